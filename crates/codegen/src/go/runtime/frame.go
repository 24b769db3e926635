package runtime

import "encoding/binary"

const (
	len8 uint8 = iota
	len16
	len32
	len64
	len64le
	varlen
	len16le
	len32le
	compactlen
	scalelen
)

// numberAt reads a length or count at the front: how many bytes it takes, and the number.
func numberAt(form uint8, b []byte) (int, uint64, fault) {
	if form == varlen {
		n := node{bits: 64, most: [2]uint64{0, 1<<64 - 1}}
		size, f := extentSeptets(&n, b)
		if f.code != 0 {
			return 0, 0, f
		}
		v, f := decodeLEB128(&n, b[:size])
		return size, v.lo, f
	}
	if form == compactlen || form == scalelen {
		n := node{bits: 32, most: [2]uint64{0, 1<<32 - 1}}
		extent, decode := extentCompactSize, decodeCompactSize
		if form == scalelen {
			extent, decode = extentScaleCompact, decodeScaleCompact
		}
		size, f := extent(&n, b)
		if f.code != 0 {
			return 0, 0, f
		}
		v, f := decode(&n, b[:size])
		return size, v.lo, f
	}
	size := 8
	switch form {
	case len8, len16, len32:
		size = 1 << form
	case len16le:
		size = 2
	case len32le:
		size = 4
	}
	if len(b) < size {
		return 0, 0, short(len(b), size)
	}
	switch form {
	case len8:
		return 1, uint64(b[0]), fault{}
	case len16:
		return 2, uint64(binary.BigEndian.Uint16(b)), fault{}
	case len32:
		return 4, uint64(binary.BigEndian.Uint32(b)), fault{}
	case len64:
		return 8, binary.BigEndian.Uint64(b), fault{}
	case len16le:
		return 2, uint64(binary.LittleEndian.Uint16(b)), fault{}
	case len32le:
		return 4, uint64(binary.LittleEndian.Uint32(b)), fault{}
	default:
		return 8, binary.LittleEndian.Uint64(b), fault{}
	}
}

// countAt reads a count; one beyond every list is cut, since no bytes can hold so many elements.
func countAt(form uint8, b []byte) (int, int, fault) {
	size, number, f := numberAt(form, b)
	if number > 1<<31-1 {
		number = 1<<31 - 1
	}
	return size, int(number), f
}

func lenBounds(form uint8, b []byte) (int, int, fault) {
	start, number, f := numberAt(form, b)
	if f.code != 0 {
		return 0, 0, f
	}
	end := uint64(start) + number
	if end < number {
		end = 1<<64 - 1
	}
	if end > uint64(len(b)) {
		return 0, 0, fault{at: len(b), code: fShort, a: int(end - uint64(len(b)))}
	}
	return start, start + int(number), fault{}
}

func extentLen(n *node, b []byte) (int, fault) {
	_, end, f := lenBounds(n.form, b)
	return end, f
}

func unframeLen(n *node, b []byte) (int, []byte, fault) {
	start, end, f := lenBounds(n.form, b)
	if f.code == 0 && len(b) != end {
		f = trailing(len(b), end)
	}
	if f.code != 0 {
		return 0, nil, f
	}
	return start, b[start:], fault{}
}

// escapedEnd is the offset of the zero that ends escaped bytes; -1 if there is none.
func escapedEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		if b[i] != 0 {
			continue
		}
		if i+1 < len(b) && b[i+1] == 0xff {
			i++
			continue
		}
		return i
	}
	return -1
}

func unescaped(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		out = append(out, b[i])
		if b[i] == 0 {
			i++
		}
	}
	return out
}

func extentEscaped(_ *node, b []byte) (int, fault) {
	zero := escapedEnd(b)
	if zero < 0 {
		return 0, short(len(b), len(b)+1)
	}
	return zero + 1, fault{}
}

func unframeEscaped(n *node, b []byte) (int, []byte, fault) {
	extent, f := extentEscaped(n, b)
	if f.code == 0 && len(b) > extent {
		f = trailing(len(b), extent)
	}
	if f.code != 0 {
		return 0, nil, f
	}
	return 0, unescaped(b[:extent-1]), fault{}
}

func extentTerminated(_ *node, b []byte) (int, fault) {
	zero := escapedEnd(b)
	switch {
	case zero < 0:
		return 0, short(len(b), len(b)+2)
	case zero+1 == len(b):
		return 0, short(len(b), zero+2)
	case b[zero+1] != 0:
		return 0, fault{at: zero + 1, code: fByte, a: int(b[zero+1]), b: wantEscape}
	}
	return zero + 2, fault{}
}

func unframeTerminated(n *node, b []byte) (int, []byte, fault) {
	extent, f := extentTerminated(n, b)
	if f.code == 0 && len(b) > extent {
		f = trailing(len(b), extent)
	}
	if f.code != 0 {
		return 0, nil, f
	}
	return 0, unescaped(b[:extent-2]), fault{}
}

func extentOrdered(_ *node, b []byte) (int, fault) {
	for at := 0; at < len(b); at++ {
		c := b[at]
		if c != 0 && c != 0xff {
			continue
		}
		at++
		switch {
		case at == len(b):
			return 0, short(len(b), at+1)
		case b[at] == ^c:
		case c == 0 && b[at] == 1:
			return at + 1, fault{}
		default:
			return 0, fault{at: at, code: fByte, a: int(b[at]), b: wantEscape}
		}
	}
	return 0, short(len(b), len(b)+2)
}

func unframeOrdered(n *node, b []byte) (int, []byte, fault) {
	extent, f := extentOrdered(n, b)
	if f.code == 0 && len(b) > extent {
		f = trailing(len(b), extent)
	}
	if f.code != 0 {
		return 0, nil, f
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < extent-2; i++ {
		out = append(out, b[i])
		if b[i] == 0 || b[i] == 0xff {
			i++
		}
	}
	return 0, out, fault{}
}

func extentMemcmp(_ *node, b []byte) (int, fault) {
	end := 9
	for ; end <= len(b); end += 9 {
		marker := b[end-1]
		if marker == 0xff {
			continue
		}
		if marker >= 0xf7 {
			return end, fault{}
		}
		return 0, fault{at: end - 1, code: fByte, a: int(marker), b: wantGroupMarker}
	}
	return 0, short(len(b), end)
}

func unframeMemcmp(n *node, b []byte) (int, []byte, fault) {
	extent, f := extentMemcmp(n, b)
	if f.code == 0 && len(b) > extent {
		f = trailing(len(b), extent)
	}
	if f.code != 0 {
		return 0, nil, f
	}
	padding := int(0xff - b[extent-1])
	for at := extent - 1 - padding; at < extent-1; at++ {
		if b[at] != 0 {
			return 0, nil, fault{at: at, code: fByte, a: int(b[at]), b: wantPadding}
		}
	}
	out := make([]byte, 0, extent)
	for at := 0; at < extent; at += 9 {
		out = append(out, b[at:at+8]...)
	}
	return 0, out[:len(out)-padding], fault{}
}
