package runtime

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
	"unicode/utf8"
)

// Uint128 is an unsigned integer of 128 bits.
type Uint128 struct {
	Hi, Lo uint64
}

// Int128 is a signed integer of 128 bits in two's complement.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Score is a place in chain order: confirmed at a height and index, or not confirmed and seen at a time.
type Score struct {
	// Unconfirmed tells which two of the other fields count.
	Unconfirmed bool
	// Height is that of the block.
	Height uint32
	// Index is the place in the block.
	Index uint64
	// Seconds since 1970.
	Seconds uint64
	// Nanos is below 1,000,000,000.
	Nanos uint32
}

// HeightScore is a score as the float that stands in the bytes.
type HeightScore float64

// NewHeightScore rounds a score to its float.
func NewHeightScore(s Score) (HeightScore, error) {
	if !s.Unconfirmed && s.Height > 0 {
		return HeightScore(float64(s.Height) + float64(s.Index)/1e9), nil
	}
	hi, lo := bits.Mul64(s.Seconds, 1000000000)
	lo, carry := bits.Add64(lo, uint64(s.Nanos), 0)
	if !s.Unconfirmed || s.Nanos >= 1000000000 || hi+carry != 0 || lo > math.MaxInt64 {
		return 0, refused("score", "", fault{code: xRange})
	}
	return HeightScore(float64(int64(lo)) / 1e9), nil
}

func less128(a, b [2]uint64, signed bool) bool {
	if signed {
		a[0] ^= 1 << 63
		b[0] ^= 1 << 63
	}
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

// ranged refuses a number that is out of the range of the argument.
func (n *node) ranged(hi, lo uint64) (val, fault) {
	v := [2]uint64{hi, lo}
	if less128(v, n.least, n.signed) || less128(n.most, v, n.signed) {
		return val{}, fault{code: fRange}
	}
	return val{hi: hi, lo: lo}, fault{}
}

// fromMagnitude is the number with a sign, out of range if its type cannot hold it.
func (n *node) fromMagnitude(negative bool, hi, lo uint64) (val, fault) {
	if negative {
		if !n.signed && (hi|lo) != 0 || hi > 1<<63 || hi == 1<<63 && lo != 0 {
			return val{}, fault{code: fRange}
		}
		l, borrow := bits.Sub64(0, lo, 0)
		hi, lo = -hi-borrow, l
	} else if n.signed && hi>>63 != 0 {
		return val{}, fault{code: fRange}
	}
	return n.ranged(hi, lo)
}

func bigEndian(b []byte) (hi, lo uint64) {
	for _, c := range b {
		hi, lo = hi<<8|lo>>56, lo<<8|uint64(c)
	}
	return hi, lo
}

func bigWord(b []byte) uint64 {
	_, lo := bigEndian(b)
	return lo
}

func littleWord(b []byte) (lo uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		lo = lo<<8 | uint64(b[i])
	}
	return lo
}

func extended(n *node, hi, lo uint64) (uint64, uint64) {
	if !n.signed || n.bits == 128 {
		return hi, lo
	}
	shift := uint(64 - n.bits)
	lo = uint64(int64(lo<<shift) >> shift)
	return uint64(int64(lo) >> 63), lo
}

func decodeBE(n *node, b []byte) (val, fault) {
	if len(b) != n.bits/8 {
		return val{}, wrongWidth(len(b), n.bits/8)
	}
	return n.ranged(extended2(n, b))
}

func extended2(n *node, b []byte) (uint64, uint64) {
	hi, lo := bigEndian(b)
	return extended(n, hi, lo)
}

func decodeLE(n *node, b []byte) (val, fault) {
	if len(b) != n.bits/8 {
		return val{}, wrongWidth(len(b), n.bits/8)
	}
	var r [16]byte
	for i := range b {
		r[len(b)-1-i] = b[i]
	}
	return n.ranged(extended2(n, r[:len(b)]))
}

func decodeSignFlip(n *node, b []byte) (val, fault) {
	if len(b) != n.bits/8 {
		return val{}, wrongWidth(len(b), n.bits/8)
	}
	var r [16]byte
	copy(r[:], b)
	r[0] ^= 0x80
	return n.ranged(extended2(n, r[:len(b)]))
}

func decodeSaturating(n *node, b []byte) (val, fault) {
	if len(b) != n.bits/8 {
		return val{}, wrongWidth(len(b), n.bits/8)
	}
	if b[0] >= 0x80 {
		return val{}, fault{code: fRange}
	}
	return n.ranged(bigEndian(b))
}

// mask128 has the lowest bytes set, so many of them.
func mask128(size int) (hi, lo uint64) {
	switch {
	case size >= 16:
		return math.MaxUint64, math.MaxUint64
	case size > 8:
		return 1<<uint(8*(size-8)) - 1, math.MaxUint64
	case size == 8:
		return 0, math.MaxUint64
	}
	return 0, 1<<uint(8*size) - 1
}

// lowest is the first number from the least one on that ends with the lowest bytes of another.
func (n *node) lowest(hi, lo uint64) (uint64, uint64) {
	maskHi, maskLo := mask128(n.min)
	lo, borrow := bits.Sub64(lo, n.least[1], 0)
	hi, _ = bits.Sub64(hi, n.least[0], borrow)
	lo, carry := bits.Add64(lo&maskLo, n.least[1], 0)
	hi, over := bits.Add64(hi&maskHi, n.least[0], carry)
	if over != 0 {
		return math.MaxUint64, math.MaxUint64
	}
	return hi, lo
}

func decodeLow(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	hi, lo := n.lowest(bigEndian(b))
	v, f := n.ranged(hi, lo)
	if f.code == 0 && string(appendPart(nil, hi, lo, 0, n.min)) != string(b) {
		return val{}, fault{code: fRange}
	}
	return v, f
}

// highest is the first number from the least one on that begins with the highest bytes of another.
func (n *node) highest(hi, lo uint64) (uint64, uint64) {
	maskHi, maskLo := mask128(n.bits/8 - n.min)
	v := [2]uint64{hi &^ maskHi, lo &^ maskLo}
	if less128(v, n.least, false) {
		v = n.least
	}
	return v[0], v[1]
}

func decodeHigh(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	from := n.bits/8 - n.min
	hi, lo := n.highest(bigEndian(append(append([]byte{}, b...), make([]byte, from)...)))
	if string(appendPart(nil, hi, lo, from, n.min)) != string(b) {
		return val{}, fault{code: fRange}
	}
	return n.ranged(hi, lo)
}

// floatOfInt is the float that is nearest to a number of at most 64 bits.
func (n *node) floatOfInt(lo uint64) float64 {
	if n.signed {
		return float64(int64(lo))
	}
	return float64(lo)
}

// intOfFloat is the number that is equal to a float, or the end of the range that is nearest to it.
func (n *node) intOfFloat(v float64) uint64 {
	if least := n.floatOfInt(n.least[1]); v <= least {
		return n.least[1]
	}
	if most := n.floatOfInt(n.most[1]); v >= most {
		return n.most[1]
	}
	if n.signed {
		return uint64(int64(v))
	}
	return uint64(v)
}

func (n *node) sign(lo uint64) uint64 {
	if n.signed {
		return uint64(int64(lo) >> 63)
	}
	return 0
}

func decodeIntFloat(n *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	word := binary.BigEndian.Uint64(b)
	v := math.Float64frombits(word)
	if v != v {
		return val{}, fault{code: fFloat}
	}
	lo := n.intOfFloat(v)
	if math.Float64bits(n.floatOfInt(lo)) != word {
		return val{}, fault{code: fRange}
	}
	return n.ranged(n.sign(lo), lo)
}

func decodeTick9(n *node, b []byte) (val, fault) {
	if len(b) != 9 {
		return val{}, wrongWidth(len(b), 9)
	}
	v := binary.BigEndian.Uint64(b[1:])
	want := byte(6) - byte(v>>63)
	if b[0] == want {
		return n.ranged(uint64(int64(v)>>63), v)
	}
	if b[0] == 5 || b[0] == 6 {
		return val{}, fault{code: fSign, a: int(b[0]), b: int(want)}
	}
	return val{}, fault{code: fByte, a: int(b[0]), b: wantTickSign}
}

// digits reads base-10 digits; ok is false beyond 128 bits.
func digits(b []byte) (hi, lo uint64, ok bool, f fault) {
	ok = true
	for i, c := range b {
		if c < '0' || c > '9' {
			return 0, 0, false, fault{at: i, code: fByte, a: int(c), b: wantDigit}
		}
		over, h := bits.Mul64(hi, 10)
		carry, l := bits.Mul64(lo, 10)
		l, more := bits.Add64(l, uint64(c-'0'), 0)
		h, more = bits.Add64(h, carry, more)
		ok = ok && over == 0 && more == 0
		hi, lo = h, l
	}
	return hi, lo, ok, fault{}
}

func decodeDec(n *node, b []byte) (val, fault) {
	text, negative := b, false
	if n.signed && len(b) > 0 && b[0] == '-' {
		text, negative = b[1:], true
	}
	base := len(b) - len(text)
	if len(text) == 0 {
		return val{}, short(len(b), base+1)
	}
	if text[0] == '0' && (len(text) > 1 || negative) {
		return val{}, fault{at: base, code: fLeadingZero}
	}
	hi, lo, ok, f := digits(text)
	if f.code != 0 {
		return val{}, f.behind(base)
	}
	if !ok {
		return val{}, fault{code: fRange}
	}
	return n.fromMagnitude(negative, hi, lo)
}

func longestDec(n *node, b []byte) int {
	i := 0
	if n.signed && len(b) > 0 && b[0] == '-' {
		i = 1
	}
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func decodeDecPadded(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	hi, lo, ok, f := digits(b)
	if f.code != 0 {
		return val{}, f
	}
	if !ok {
		return val{}, fault{code: fRange}
	}
	return n.ranged(hi, lo)
}

const (
	hexLower uint8 = iota
	hexUpper
)

func isHex(form, c byte) bool {
	first := byte('a')
	if form == hexUpper {
		first = 'A'
	}
	return c-'0' < 10 || c-first < 6
}

func hexRun(form byte, b []byte) int {
	for i, c := range b {
		if !isHex(form, c) {
			return i
		}
	}
	return len(b)
}

func checkHex(form byte, b []byte) fault {
	at := hexRun(form, b)
	if at == len(b) {
		return fault{}
	}
	return fault{at: at, code: fByte, a: int(b[at]), b: wantLowerHex + int(form)}
}

func hexValue(c byte) byte {
	return c&0x0f + c>>6*9
}

func hexNumber(n *node, b []byte) (val, fault) {
	var hi, lo uint64
	for _, c := range b {
		if hi>>60 != 0 {
			return val{}, fault{code: fRange}
		}
		hi, lo = hi<<4|lo>>60, lo<<4|uint64(hexValue(c))
	}
	return n.ranged(hi, lo)
}

func decodeHexInt(n *node, b []byte) (val, fault) {
	if len(b) == 0 {
		return val{}, short(0, 1)
	}
	if b[0] == '0' && len(b) > 1 {
		return val{}, fault{code: fLeadingZero}
	}
	if f := checkHex(n.form, b); f.code != 0 {
		return val{}, f
	}
	return hexNumber(n, b)
}

func longestHexInt(_ *node, b []byte) int {
	for i, c := range b {
		if !isHex(hexLower, c) && !isHex(hexUpper, c) {
			return i
		}
	}
	return len(b)
}

func decodeHexPadded(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	if f := checkHex(n.form, b); f.code != 0 {
		return val{}, f
	}
	return hexNumber(n, b)
}

func extentSeptets(n *node, b []byte) (int, fault) {
	most := (n.bits + 6) / 7
	for i := 0; i < most && i < len(b); i++ {
		if b[i]&0x80 == 0 {
			return i + 1, fault{}
		}
	}
	if len(b) < most {
		return 0, short(len(b), len(b)+1)
	}
	return 0, fault{code: fRange}
}

func decodeLEB128(n *node, b []byte) (val, fault) {
	extent, f := extentSeptets(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	if len(b) > 1 && b[len(b)-1] == 0 {
		return val{}, fault{at: extent - 1, code: fNotShortest}
	}
	var hi, lo uint64
	for i := len(b) - 1; i >= 0; i-- {
		if hi>>57 != 0 {
			return val{}, fault{code: fRange}
		}
		hi, lo = hi<<7|lo>>57, lo<<7|uint64(b[i]&0x7f)
	}
	return n.fromUnsigned(hi, lo)
}

// fromUnsigned refuses what the type cannot hold.
func (n *node) fromUnsigned(hi, lo uint64) (val, fault) {
	return n.ranged(hi, lo)
}

func decodeBitcoinVarint(n *node, b []byte) (val, fault) {
	extent, f := extentSeptets(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	var hi, lo uint64
	for _, c := range b {
		if hi>>57 != 0 {
			return val{}, fault{code: fRange}
		}
		hi, lo = hi<<7|lo>>57, lo<<7|uint64(c&0x7f)
		if c&0x80 != 0 {
			var carry uint64
			lo, carry = bits.Add64(lo, 1, 0)
			hi, carry = bits.Add64(hi, 0, carry)
			if carry != 0 {
				return val{}, fault{code: fRange}
			}
		}
	}
	return n.fromUnsigned(hi, lo)
}

func extentOrdVar(_ *node, b []byte) (int, fault) {
	if len(b) == 0 {
		return 0, short(0, 1)
	}
	width := 1
	switch {
	case b[0] >= 0xf6 && b[0] <= 0xfd:
		width = int(b[0]-0xf5) + 1
	case b[0] < 0x88 || b[0] > 0xfd:
		return 0, fault{code: fByte, a: int(b[0]), b: wantVarintHead}
	}
	if len(b) < width {
		return 0, short(len(b), width)
	}
	return width, fault{}
}

func decodeOrdVar(n *node, b []byte) (val, fault) {
	extent, f := extentOrdVar(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	if len(b) == 1 {
		return n.fromUnsigned(0, uint64(b[0]-0x88))
	}
	_, number := bigEndian(b[1:])
	if b[1] == 0 || number <= 109 {
		return val{}, fault{at: 1, code: fNotShortest}
	}
	return n.fromUnsigned(0, number)
}

func extentCompactSize(_ *node, b []byte) (int, fault) {
	if len(b) == 0 {
		return 0, short(0, 1)
	}
	width := 1
	if b[0] >= 0xfd {
		width = 1 + 2<<(b[0]-0xfd)
	}
	if len(b) < width {
		return 0, short(len(b), width)
	}
	return width, fault{}
}

func decodeCompactSize(n *node, b []byte) (val, fault) {
	extent, f := extentCompactSize(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	if b[0] < 0xfd {
		return n.ranged(0, uint64(b[0]))
	}
	var number uint64
	for i := len(b) - 1; i > 0; i-- {
		number = number<<8 | uint64(b[i])
	}
	least := uint64(0xfd)
	if b[0] > 0xfd {
		least = 1 << (16 << (b[0] - 0xfe))
	}
	if number < least {
		return val{}, fault{at: 1, code: fNotShortest}
	}
	return n.ranged(0, number)
}

func extentScaleCompact(_ *node, b []byte) (int, fault) {
	if len(b) == 0 {
		return 0, short(0, 1)
	}
	width := 1 << (b[0] & 3)
	if b[0]&3 == 3 {
		width = int(b[0]>>2) + 5
	}
	if width > 17 {
		return 0, fault{code: fRange}
	}
	if len(b) < width {
		return 0, short(len(b), width)
	}
	return width, fault{}
}

func decodeScaleCompact(n *node, b []byte) (val, fault) {
	extent, f := extentScaleCompact(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	digits := b
	if b[0]&3 == 3 {
		digits = b[1:]
		if len(digits) > 4 && digits[len(digits)-1] == 0 {
			return val{}, fault{at: extent - 1, code: fNotShortest}
		}
	}
	var hi, lo uint64
	for i := len(digits) - 1; i >= 0; i-- {
		hi, lo = hi<<8|lo>>56, lo<<8|uint64(digits[i])
	}
	least := uint64(1 << 30)
	if b[0]&3 != 3 {
		lo >>= 2
		least = [...]uint64{0, 1 << 6, 1 << 14}[b[0]&3]
	}
	if hi == 0 && lo < least {
		return val{}, fault{code: fNotShortest}
	}
	return n.fromUnsigned(hi, lo)
}

func extentOrderedInt(n *node, b []byte) (int, fault) {
	if len(b) == 0 {
		return 0, short(0, 1)
	}
	width, most := int(b[0])+1, 9
	if n.signed {
		flip := byte(0)
		if b[0]&0x80 == 0 {
			flip = 0xff
		}
		width, most = bits.LeadingZeros8(^(b[0] ^ flip)), 10
		if width == 8 {
			if len(b) < 2 {
				return 0, short(1, 2)
			}
			width = 8 + bits.LeadingZeros8(^(b[1] ^ flip))
		}
	}
	if width > most {
		return 0, fault{code: fByte, a: int(b[0]), b: wantVarintHead}
	}
	if len(b) < width {
		return 0, short(len(b), width)
	}
	return width, fault{}
}

func decodeOrderedInt(n *node, b []byte) (val, fault) {
	extent, f := extentOrderedInt(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	if !n.signed {
		if len(b) > 1 && b[1] == 0 {
			return val{}, fault{at: 1, code: fNotShortest}
		}
		return n.fromUnsigned(0, bigWord(b[1:]))
	}
	hi, lo := bigEndian(b)
	negative := b[0]&0x80 == 0
	if negative {
		hi, lo = ^hi, ^lo
	}
	// What is left without the bits that count the bytes and the one that ends them.
	if room := uint(7*extent - 1); room < 64 {
		hi, lo = 0, lo&(1<<room-1)
	} else {
		hi &= 1<<(room-64) - 1
	}
	if hi != 0 || lo>>63 != 0 {
		return val{}, fault{code: fRange}
	}
	if orderedSize(lo) != extent {
		return val{}, fault{code: fNotShortest}
	}
	if negative {
		return n.ranged(1<<64-1, ^lo)
	}
	return n.ranged(0, lo)
}

func tupleHead(b []byte) (negative bool, head, count int, f fault) {
	if len(b) == 0 {
		return false, 0, 0, short(0, 1)
	}
	c := b[0]
	switch {
	case c >= 0x14 && c < 0x1d:
		return false, 1, int(c - 0x14), fault{}
	case c >= 0x0c && c < 0x14:
		return true, 1, int(0x14 - c), fault{}
	case c != 0x1d && c != 0x0b:
		return false, 0, 0, fault{code: fByte, a: int(c), b: wantTypeCode}
	case len(b) < 2:
		return false, 0, 0, short(1, 2)
	case c == 0x0b:
		return true, 2, int(^b[1]), fault{}
	default:
		return false, 2, int(b[1]), fault{}
	}
}

func extentTupleInt(_ *node, b []byte) (int, fault) {
	_, head, count, f := tupleHead(b)
	if f.code == 0 && len(b) < head+count {
		f = short(len(b), head+count)
	}
	return head + count, f
}

func decodeTupleInt(n *node, b []byte) (val, fault) {
	extent, f := extentTupleInt(n, b)
	if f.code != 0 {
		return val{}, f
	}
	negative, head, count, _ := tupleHead(b)
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	if head == 2 && count <= 8 {
		return val{}, fault{at: 1, code: fNotShortest}
	}
	flip := byte(0)
	if negative {
		flip = 0xff
	}
	if count > 0 && b[head]^flip == 0 {
		return val{}, fault{at: head, code: fNotShortest}
	}
	if count > 16 {
		return val{}, fault{code: fRange}
	}
	var hi, lo uint64
	for _, c := range b[head:] {
		hi, lo = hi<<8|lo>>56, lo<<8|uint64(c^flip)
	}
	return n.fromMagnitude(negative, hi, lo)
}

func decodeBool(_ *node, b []byte) (val, fault) {
	if len(b) != 1 {
		return val{}, wrongWidth(len(b), 1)
	}
	if b[0] > 1 {
		return val{}, fault{code: fByte, a: int(b[0]), b: wantBool}
	}
	return val{lo: uint64(b[0])}, fault{}
}

func decodeBoolTuple(_ *node, b []byte) (val, fault) {
	switch {
	case len(b) == 0:
		return val{}, short(0, 1)
	case b[0] != 0x26 && b[0] != 0x27:
		return val{}, fault{code: fByte, a: int(b[0]), b: wantTypeCode}
	case len(b) > 1:
		return val{}, trailing(len(b), 1)
	}
	return val{lo: uint64(b[0] - 0x26)}, fault{}
}

func floatOf(raw uint64) (val, fault) {
	if v := math.Float64frombits(raw); v != v || raw == 1<<63 {
		return val{}, fault{code: fFloat}
	}
	return val{lo: raw}, fault{}
}

func ordered(raw uint64) uint64 {
	if raw>>63 == 0 {
		return raw ^ 1<<63
	}
	return ^raw
}

func disordered(raw uint64) uint64 {
	if raw>>63 == 0 {
		return ^raw
	}
	return raw ^ 1<<63
}

func decodeFloatBits(_ *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	return floatOf(binary.BigEndian.Uint64(b))
}

func decodeFloatOrdered(_ *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	return floatOf(disordered(binary.BigEndian.Uint64(b)))
}

func badger(v float64) uint64 {
	if v >= 0 {
		return math.Float64bits(v) ^ 1<<63
	}
	return ^math.Float64bits(v)
}

// unbadger is the float that sortable bits are read as.
func unbadger(raw uint64) float64 {
	if raw == 0 {
		return math.Copysign(0, -1)
	}
	return math.Float64frombits(disordered(raw))
}

func decodeFloatBadger(_ *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	raw := binary.BigEndian.Uint64(b)
	v := unbadger(raw)
	if badger(v) != raw {
		return val{}, fault{code: fFloat}
	}
	return val{lo: math.Float64bits(v)}, fault{}
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// fixedUnits is the number as a multiple of 10 to the power of minus decimals.
func fixedUnits(v float64, decimals int) (int64, fault) {
	scale := powersOfTen[decimals]
	scaled := v * scale
	if !(scaled >= -9223372036854775808.0 && scaled < 9223372036854775808.0) {
		return 0, fault{code: xRange}
	}
	units := int64(scaled)
	fraction := scaled - float64(units)
	if fraction >= 0.5 && units < math.MaxInt64 {
		units++
	} else if fraction <= -0.5 && units > math.MinInt64 {
		units--
	}
	if float64(units)/scale != v {
		return 0, fault{code: xInexact}
	}
	return units, fault{}
}

func decodeFloatFixed(n *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	units := int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	v := float64(units) / powersOfTen[n.keep]
	if back, f := fixedUnits(v, n.keep); f.code != 0 || back != units {
		return val{}, fault{code: fFloat}
	}
	return val{lo: math.Float64bits(v)}, fault{}
}

func decodeFloatTuple(n *node, b []byte) (val, fault) {
	if len(b) == 0 {
		return val{}, short(0, 1)
	}
	if b[0] != 0x21 {
		return val{}, fault{code: fByte, a: int(b[0]), b: wantTypeCode}
	}
	v, f := decodeFloatOrdered(n, b[1:])
	return v, f.behind(1)
}

const timeFrame = "0000-00-00T00:00:00.000000000"

func decodeTimeText9(_ *node, b []byte) (val, fault) {
	if len(b) != len(timeFrame) {
		return val{}, wrongWidth(len(b), len(timeFrame))
	}
	for i, c := range b {
		if timeFrame[i] == '0' && (c < '0' || c > '9') || timeFrame[i] != '0' && c != timeFrame[i] {
			return val{}, fault{at: i, code: fByte, a: int(c), b: wantTime}
		}
	}
	field := func(at, width int) int {
		v := 0
		for _, c := range b[at : at+width] {
			v = v*10 + int(c-'0')
		}
		return v
	}
	year, month, day := field(0, 4), field(5, 2), field(8, 2)
	hour, minute, second, nanos := field(11, 2), field(14, 2), field(17, 2), field(20, 9)
	bad := -1
	switch {
	case month < 1 || month > 12:
		bad = 5
	case day < 1 || day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		bad = 8
	case hour > 23:
		bad = 11
	case minute > 59:
		bad = 14
	case second > 59:
		bad = 17
	}
	if bad >= 0 {
		return val{}, fault{at: bad, code: fTime}
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	return val{lo: uint64(t.Unix()), i: nanos}, fault{}
}

func decodeTimeNanos(_ *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	nanos := int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	seconds, rest := nanos/1000000000, nanos%1000000000
	if rest < 0 {
		seconds, rest = seconds-1, rest+1000000000
	}
	return val{lo: uint64(seconds), i: int(rest)}, fault{}
}

func timeOf(v val) time.Time {
	return time.Unix(int64(v.lo), int64(v.i)).UTC()
}

func timeVal(t time.Time) val {
	return val{lo: uint64(t.Unix()), i: t.Nanosecond()}
}

func decodeScoreExact(_ *node, b []byte) (val, fault) {
	if len(b) != 13 {
		return val{}, wrongWidth(len(b), 13)
	}
	switch b[0] {
	case 0:
		return val{hi: uint64(binary.BigEndian.Uint32(b[1:])), lo: binary.BigEndian.Uint64(b[5:])}, fault{}
	case 1:
		nanos := binary.BigEndian.Uint32(b[9:])
		if nanos >= 1000000000 {
			return val{}, fault{at: 9, code: fRange}
		}
		return val{hi: uint64(nanos), lo: binary.BigEndian.Uint64(b[1:]), i: 1}, fault{}
	default:
		return val{}, fault{code: fByte, a: int(b[0]), b: wantScoreTag}
	}
}

func scoreOf(v val) Score {
	if v.i == 0 {
		return Score{Height: uint32(v.hi), Index: v.lo}
	}
	return Score{Unconfirmed: true, Seconds: v.lo, Nanos: uint32(v.hi)}
}

func scoreVal(s Score) val {
	if s.Unconfirmed {
		return val{hi: uint64(s.Nanos), lo: s.Seconds, i: 1}
	}
	return val{hi: uint64(s.Height), lo: s.Index}
}

func decodeHeightScore(_ *node, b []byte) (val, fault) {
	if len(b) != 8 {
		return val{}, wrongWidth(len(b), 8)
	}
	raw := binary.BigEndian.Uint64(b)
	v, f := floatOf(raw)
	if f.code == 0 && (raw>>63 != 0 || math.IsInf(math.Float64frombits(raw), 0)) {
		f = fault{code: fRange}
	}
	return v, f
}

// decodeScoreWithin reads a place at one of the heights of the node, at an index below 10⁹.
func decodeScoreWithin(n *node, b []byte) (val, fault) {
	v, f := decodeScoreExact(n, b)
	if f.code == 0 && (v.i != 0 || v.hi < n.least[1] || v.hi > n.most[1] || v.lo > 999999999) {
		f = fault{code: fRange}
	}
	return v, f
}

// decodeHeightScoreWithin reads a float between two floats, whose bits the node has. Floats from 0 on sort as their bits do.
func decodeHeightScoreWithin(n *node, b []byte) (val, fault) {
	v, f := decodeHeightScore(n, b)
	if f.code == 0 {
		if raw := binary.BigEndian.Uint64(b); raw < n.least[1] || raw > n.most[1] {
			f = fault{code: fRange}
		}
	}
	return v, f
}

func decodeBytes(n *node, b []byte) (val, fault) {
	return val{b: b}, n.lens.check(len(b), 1)
}

func longestBytes(n *node, b []byte) int {
	return n.lens.cap(len(b))
}

func decodeClass(n *node, b []byte) (val, fault) {
	if at := alphabetRun(&n.alphabet, b); at < len(b) {
		return val{}, fault{at: at, code: fByte, a: int(b[at]), b: wantAlphabet}
	}
	return val{b: b}, n.lens.check(len(b), 1)
}

func longestClass(n *node, b []byte) int {
	return n.lens.cap(alphabetRun(&n.alphabet, b))
}

func decodeHexBytes(n *node, b []byte) (val, fault) {
	if f := checkHex(n.form, b); f.code != 0 {
		return val{}, f
	}
	if len(b)%2 != 0 {
		return val{}, short(len(b), len(b)+1)
	}
	if f := n.lens.check(len(b)/2, 2); f.code != 0 {
		return val{}, f
	}
	out := make([]byte, len(b)/2)
	unhex(out, b)
	return val{b: out}, fault{}
}

// unhexed fills out with the bytes of digits, and tells whether all of them are of the form.
func unhexed(form byte, out, b []byte) bool {
	values := &hexValues[form]
	var all byte
	for i := range out {
		pair := b[2*i : 2*i+2]
		high, low := values[pair[0]], values[pair[1]]
		out[i] = high<<4 | low
		all |= high | low
	}
	return all < 16
}

// hexValues has the value of each digit of a form, and more than any digit for what is none.
var hexValues = func() (values [2][256]byte) {
	for form := range values {
		for c := range values[form] {
			values[form][c] = 0xff
		}
		for value := 0; value < 16; value++ {
			values[form][hexDigits[16*form+value]] = byte(value)
		}
	}
	return values
}()

// unhex fills out with the bytes of digits that were checked.
func unhex(out, b []byte) {
	for i := range out {
		out[i] = hexValue(b[2*i])<<4 | hexValue(b[2*i+1])
	}
}

func longestHexBytes(n *node, b []byte) int {
	if n.lens.max >= 0 && n.lens.max < len(b)/2 {
		b = b[:2*n.lens.max]
	}
	return hexRun(n.form, b)
}

func decodeReversed(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	return val{b: appendReversed(nil, b)}, fault{}
}

func decodeTurned(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	return val{b: appendTurned(nil, b)}, fault{}
}

func decodeFit(n *node, b []byte) (val, fault) {
	if len(b) != n.min {
		return val{}, wrongWidth(len(b), n.min)
	}
	return val{b: b}, fault{}
}

func decodeTupleBytes(n *node, b []byte) (val, fault) {
	content, f := tupleContent(1, b)
	if f.code == 0 && !n.lens.admits(len(content)) {
		f = fault{at: 1, code: fLength, a: len(content)}
	}
	return val{b: content}, f
}

func extentTupleBytes(_ *node, b []byte) (int, fault) {
	return extentTuple(1, b)
}

func extentTupleText(_ *node, b []byte) (int, fault) {
	return extentTuple(2, b)
}

func extentTuple(code byte, b []byte) (int, fault) {
	if len(b) == 0 {
		return 0, short(0, 1)
	}
	if b[0] != code {
		return 0, fault{code: fByte, a: int(b[0]), b: wantTypeCode}
	}
	extent, f := extentEscaped(nil, b[1:])
	return extent + 1, f.behind(1)
}

func tupleContent(code byte, b []byte) ([]byte, fault) {
	extent, f := extentTuple(code, b)
	if f.code != 0 {
		return nil, f
	}
	if len(b) != extent {
		return nil, trailing(len(b), extent)
	}
	return unescaped(b[1 : len(b)-1]), fault{}
}

func contains(alphabet *[4]uint64, c byte) bool {
	return alphabet[c>>6]>>(c&63)&1 != 0
}

func alphabetRun(alphabet *[4]uint64, b []byte) int {
	for i, c := range b {
		if !contains(alphabet, c) {
			return i
		}
	}
	return len(b)
}

func firstCharacter(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	most := 0
	switch {
	case b[0] >= 0xf0:
		most = 3
	case b[0] >= 0xe0:
		most = 2
	case b[0] >= 0xc0:
		most = 1
	}
	size := 1
	for size < len(b) && size <= most && b[size]&0xc0 == 0x80 {
		size++
	}
	return size
}

func textRun(alphabet, first *[4]uint64, b []byte) int {
	if first == nil {
		return alphabetRun(alphabet, b)
	}
	head := firstCharacter(b)
	if run := alphabetRun(first, b[:head]); run < head {
		return run
	}
	return head + alphabetRun(alphabet, b[head:])
}

func textWant(first *[4]uint64, at int) int {
	if at == 0 && first != nil {
		return wantFirst
	}
	return wantAlphabet
}

func checkText(n *node, b []byte) fault {
	if at := textRun(&n.alphabet, n.first, b); at < len(b) {
		return fault{at: at, code: fByte, a: int(b[at]), b: textWant(n.first, at)}
	}
	if f := n.lens.check(len(b), 1); f.code != 0 {
		return f
	}
	if leftOut(string(b), n.except...) {
		return fault{code: fLeftOut}
	}
	return fault{at: validUTF8(b), code: utf8Fault(b)}
}

func utf8Fault(b []byte) uint8 {
	if utf8.Valid(b) {
		return fNone
	}
	return fUTF8
}

func validUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return 0
}

func decodeText(n *node, b []byte) (val, fault) {
	return val{b: b}, checkText(n, b)
}

func longestText(n *node, b []byte) int {
	return textRun(&n.alphabet, n.first, b[:n.lens.cap(len(b))])
}

func decodeTupleText(n *node, b []byte) (val, fault) {
	content, f := tupleContent(2, b)
	if f.code != 0 {
		return val{}, f
	}
	if !utf8.Valid(content) {
		return val{}, fault{at: tupleUTF8(b), code: fUTF8}
	}
	if f := checkText(n, content); f.code != 0 {
		return val{}, f.behind(1)
	}
	return val{b: content}, fault{}
}

// tupleUTF8 is the offset of what is not UTF-8 in an escaped text.
func tupleUTF8(b []byte) int {
	base, rest := 1, b[1:len(b)-1]
	for len(rest) > 0 {
		end := len(rest)
		for i, c := range rest {
			if c == 0 {
				end = i + 1
				break
			}
		}
		if !utf8.Valid(rest[:end]) {
			return base + validUTF8(rest[:end])
		}
		base += end + 1
		rest = clip(rest, end+1, len(rest))
	}
	return base
}

func nibbleRun(b []byte) int {
	for i, c := range b {
		if c > 0x0f {
			return i
		}
	}
	return len(b)
}

func decodeNibbles(n *node, b []byte) (val, fault) {
	if at := nibbleRun(b); at < len(b) {
		return val{}, fault{at: at, code: fByte, a: int(b[at]), b: wantNibble}
	}
	return val{b: b}, n.lens.check(len(b), 1)
}

func unpacked(out, b []byte) []byte {
	for _, c := range b {
		out = append(out, c>>4, c&0x0f)
	}
	return out
}

func decodeNibblesPacked(n *node, b []byte) (val, fault) {
	if !n.lens.admits(2 * len(b)) {
		at := len(b)
		if n.lens.max >= 0 && n.lens.max/2 < at {
			at = n.lens.max / 2
		}
		return val{}, fault{at: at, code: fLength, a: 2 * len(b)}
	}
	return val{b: unpacked(nil, b)}, fault{}
}

func decodeNibblesHexPrefix(n *node, b []byte) (val, fault) {
	if len(b) == 0 {
		return val{}, short(0, 1)
	}
	var out []byte
	switch {
	case b[0] >= 0x10 && b[0] <= 0x1f:
		out = append(out, b[0]&0x0f)
	case b[0] != 0:
		return val{}, fault{code: fByte, a: int(b[0]), b: wantHexPrefixHead}
	}
	out = unpacked(out, b[1:])
	if !n.lens.admits(len(out)) {
		at := len(b)
		if n.lens.max >= 0 && 1+n.lens.max/2 < at {
			at = 1 + n.lens.max/2
		}
		return val{}, fault{at: at, code: fLength, a: len(out)}
	}
	return val{b: out}, fault{}
}

func extentNibblesCounted(_ *node, b []byte) (int, fault) {
	if len(b) == 0 {
		return 0, short(0, 1)
	}
	width := 1 + (int(b[0])+1)/2
	if len(b) < width {
		return 0, short(len(b), width)
	}
	return width, fault{}
}

func decodeNibblesCounted(n *node, b []byte) (val, fault) {
	extent, f := extentNibblesCounted(n, b)
	if f.code != 0 {
		return val{}, f
	}
	if len(b) > extent {
		return val{}, trailing(len(b), extent)
	}
	count := int(b[0])
	if !n.lens.admits(count) {
		return val{}, fault{code: fLength, a: count}
	}
	out := unpacked(nil, b[1:])
	if len(out) > count && out[count] != 0 {
		return val{}, fault{at: extent - 1, code: fByte, a: int(b[extent-1]), b: wantPadding}
	}
	return val{b: out[:count]}, fault{}
}

func decodeOpaque(_ *node, b []byte) (val, fault) {
	return val{b: b}, fault{}
}
