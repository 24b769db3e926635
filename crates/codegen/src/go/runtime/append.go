package runtime

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
	"unicode/utf8"
)

func appendBE128(dst []byte, hi, lo uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, hi), lo)
}

func appendLE128(dst []byte, hi, lo uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, lo), hi)
}

// appendBE puts the lowest bytes of a number, the greatest first.
func appendBE(dst []byte, _, lo uint64, size int) []byte {
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, byte(lo>>uint(8*i)))
	}
	return dst
}

// appendPart puts some bytes of a number, the most significant first: those from a byte on, counted from the lowest.
func appendPart(dst []byte, hi, lo uint64, from, size int) []byte {
	for i := from + size - 1; i >= from; i-- {
		if i >= 8 {
			dst = append(dst, byte(hi>>uint(8*(i-8))))
		} else {
			dst = append(dst, byte(lo>>uint(8*i)))
		}
	}
	return dst
}

func appendIntFloat(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
}

// appendLE puts the lowest bytes of a number, the least first.
func appendLE(dst []byte, _, lo uint64, size int) []byte {
	for i := 0; i < size; i++ {
		dst = append(dst, byte(lo>>uint(8*i)))
	}
	return dst
}

func appendTick9(dst []byte, tick int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 6-byte(uint64(tick)>>63)), uint64(tick))
}

// magnitude128 is a number without its sign.
func magnitude128(hi, lo uint64) (bool, uint64, uint64) {
	if hi>>63 == 0 {
		return false, hi, lo
	}
	lo, borrow := bits.Sub64(0, lo, 0)
	return true, -hi - borrow, lo
}

const decimalPairs = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendDec puts a number in base 10, two digits at a time.
func appendDec(dst []byte, n uint64) []byte {
	var room [20]byte
	at := len(room)
	for n >= 100 {
		pair := n % 100 * 2
		n /= 100
		at -= 2
		room[at], room[at+1] = decimalPairs[pair], decimalPairs[pair+1]
	}
	if n >= 10 {
		at -= 2
		room[at], room[at+1] = decimalPairs[2*n], decimalPairs[2*n+1]
	} else {
		at--
		room[at] = '0' + byte(n)
	}
	return append(dst, room[at:]...)
}

func appendDec128(dst []byte, negative bool, hi, lo uint64) []byte {
	if negative {
		dst = append(dst, '-')
	}
	if hi == 0 {
		return appendDec(dst, lo)
	}
	var room [39]byte
	at := len(room)
	for hi != 0 || lo != 0 {
		var rest uint64
		hi, rest = hi/10, hi%10
		lo, rest = bits.Div64(rest, lo, 10)
		at--
		room[at] = '0' + byte(rest)
	}
	return append(dst, room[at:]...)
}

func appendDecPadded(dst []byte, hi, lo uint64, width int) []byte {
	at := len(dst)
	dst = appendDec128(dst, false, hi, lo)
	return padded(dst, at, width)
}

// padded puts zeros before the digits from at on.
func padded(dst []byte, at, width int) []byte {
	missing := width - (len(dst) - at)
	if missing <= 0 {
		return dst
	}
	for i := 0; i < missing; i++ {
		dst = append(dst, '0')
	}
	copy(dst[at+missing:], dst[at:len(dst)-missing])
	for i := at; i < at+missing; i++ {
		dst[i] = '0'
	}
	return dst
}

const hexDigits = "0123456789abcdef0123456789ABCDEF"

func appendHexInt(dst []byte, hi, lo uint64, form uint8) []byte {
	digits := hexDigits[16*int(form) : 16*int(form)+16]
	started := false
	for shift := 60; shift >= 0; shift -= 4 {
		if d := hi >> uint(shift) & 15; started || d != 0 {
			dst, started = append(dst, digits[d]), true
		}
	}
	for shift := 60; shift >= 0; shift -= 4 {
		if d := lo >> uint(shift) & 15; started || d != 0 || shift == 0 {
			dst, started = append(dst, digits[d]), true
		}
	}
	return dst
}

func appendHexPadded(dst []byte, hi, lo uint64, width int, form uint8) []byte {
	at := len(dst)
	dst = appendHexInt(dst, hi, lo, form)
	return padded(dst, at, width)
}

func appendLEB128(dst []byte, hi, lo uint64) []byte {
	for hi != 0 || lo > 0x7f {
		dst = append(dst, byte(lo)|0x80)
		lo, hi = lo>>7|hi<<57, hi>>7
	}
	return append(dst, byte(lo))
}

func appendBitcoinVarint(dst []byte, hi, lo uint64) []byte {
	var room [19]byte
	at := len(room)
	for more := byte(0); ; more = 0x80 {
		at--
		room[at] = byte(lo)&0x7f | more
		if hi == 0 && lo <= 0x7f {
			return append(dst, room[at:]...)
		}
		lo, hi = lo>>7|hi<<57, hi>>7
		var borrow uint64
		lo, borrow = bits.Sub64(lo, 1, 0)
		hi -= borrow
	}
}

func appendOrdVar(dst []byte, hi, lo uint64) ([]byte, fault) {
	if hi != 0 {
		return dst, fault{code: xRange}
	}
	if lo <= 109 {
		return append(dst, 0x88+byte(lo)), fault{}
	}
	size := (bits.Len64(lo) + 7) / 8
	dst = append(dst, 0xf5+byte(size))
	for shift := 8 * (size - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(lo>>uint(shift)))
	}
	return dst, fault{}
}

func appendCompactSize(dst []byte, v uint64) []byte {
	switch {
	case v < 0xfd:
		return append(dst, byte(v))
	case v <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfd), uint16(v))
	case v <= math.MaxUint32:
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), uint32(v))
	default:
		return binary.LittleEndian.AppendUint64(append(dst, 0xff), v)
	}
}

func appendScaleCompact(dst []byte, hi, lo uint64) []byte {
	size := 8
	switch {
	case hi != 0:
		size += (bits.Len64(hi) + 7) / 8
	case lo < 1<<6:
		return append(dst, byte(lo<<2))
	case lo < 1<<14:
		return binary.LittleEndian.AppendUint16(dst, uint16(lo<<2|1))
	case lo < 1<<30:
		return binary.LittleEndian.AppendUint32(dst, uint32(lo<<2|2))
	default:
		size = (bits.Len64(lo) + 7) / 8
	}
	dst = append(dst, byte(size-4)<<2|3)
	for i := 0; i < size; i++ {
		word := lo
		if i >= 8 {
			word = hi
		}
		dst = append(dst, byte(word>>uint(8*(i%8))))
	}
	return dst
}

// appendOrderedUint puts the count of bytes without leading zeros, then those bytes.
func appendOrderedUint(dst []byte, v uint64) []byte {
	size := (bits.Len64(v) + 7) / 8
	return appendBE(append(dst, byte(size)), 0, v, size)
}

// orderedSize is how many bytes a signed number takes: seven bits in each, of which one marks the end of the count.
func orderedSize(rest uint64) int {
	return (bits.Len64(rest) + 7) / 7
}

// appendOrderedInt puts as many bits as there are bytes, then the number; that of a negative one is complemented.
func appendOrderedInt(dst []byte, v int64) []byte {
	rest, flip := uint64(v), byte(0)
	if v < 0 {
		rest, flip = ^rest, 0xff
	}
	size := orderedSize(rest)
	for i := size - 1; i >= 0; i-- {
		c := byte(rest >> uint(8*(i%8)))
		if i >= 8 {
			c = 0
		}
		switch low := 7*size - 8*i; {
		case low <= 0:
			c = 0xff
		case low < 8:
			c |= 0xff << uint(low)
		}
		dst = append(dst, c^flip)
	}
	return dst
}

func appendTupleInt(dst []byte, negative bool, hi, lo uint64) []byte {
	size := (bits.Len64(lo) + 7) / 8
	if hi != 0 {
		size = 8 + (bits.Len64(hi)+7)/8
	}
	flip := byte(0)
	if negative {
		flip = 0xff
	}
	switch {
	case size > 8 && negative:
		dst = append(dst, 0x0b, ^byte(size))
	case size > 8:
		dst = append(dst, 0x1d, byte(size))
	case negative:
		dst = append(dst, 0x14-byte(size))
	default:
		dst = append(dst, 0x14+byte(size))
	}
	for i := size - 1; i >= 0; i-- {
		word := lo
		if i >= 8 {
			word = hi
		}
		dst = append(dst, byte(word>>uint(8*(i%8)))^flip)
	}
	return dst
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendBoolTuple(dst []byte, v bool) []byte {
	if v {
		return append(dst, 0x27)
	}
	return append(dst, 0x26)
}

func numberBits(v float64) (uint64, fault) {
	if v != v {
		return 0, fault{code: xNan}
	}
	if v == 0 {
		return 0, fault{}
	}
	return math.Float64bits(v), fault{}
}

func appendFloatBits(dst []byte, v float64) ([]byte, fault) {
	raw, f := numberBits(v)
	if f.code != 0 {
		return dst, f
	}
	return binary.BigEndian.AppendUint64(dst, raw), fault{}
}

func appendFloatOrdered(dst []byte, v float64) ([]byte, fault) {
	raw, f := numberBits(v)
	if f.code != 0 {
		return dst, f
	}
	return binary.BigEndian.AppendUint64(dst, ordered(raw)), fault{}
}

func appendFloatTuple(dst []byte, v float64) ([]byte, fault) {
	return appendFloatOrdered(append(dst, 0x21), v)
}

func appendFloatBadger(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, badger(v))
}

func appendFloatFixed(dst []byte, v float64, decimals int) ([]byte, fault) {
	if v != v {
		return dst, fault{code: xNan}
	}
	units, f := fixedUnits(v, decimals)
	if f.code != 0 {
		return dst, f
	}
	return binary.BigEndian.AppendUint64(dst, uint64(units)^1<<63), fault{}
}

func appendTimeText9(dst []byte, t time.Time) ([]byte, fault) {
	seconds := t.Unix()
	if seconds < -62167219200 || seconds > 253402300799 {
		return dst, fault{code: xRange}
	}
	return t.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000000"), fault{}
}

func appendTimeNanos(dst []byte, t time.Time) ([]byte, fault) {
	seconds, nanos := t.Unix(), int64(t.Nanosecond())
	if seconds < -9223372037 || seconds > 9223372036 ||
		seconds == 9223372036 && nanos > 854775807 || seconds == -9223372037 && nanos < 145224192 {
		return dst, fault{code: xRange}
	}
	return binary.BigEndian.AppendUint64(dst, uint64(seconds*1000000000+nanos)^1<<63), fault{}
}

func appendScoreExact(dst []byte, s Score) ([]byte, fault) {
	if !s.Unconfirmed {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(append(dst, 0), s.Height), s.Index), fault{}
	}
	if s.Nanos >= 1000000000 {
		return dst, fault{code: xRange}
	}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(append(dst, 1), s.Seconds), s.Nanos), fault{}
}

func appendHeightScore(dst []byte, s HeightScore) ([]byte, fault) {
	v := float64(s)
	switch {
	case v != v:
		return dst, fault{code: xNan}
	case v < 0 || math.IsInf(v, 0):
		return dst, fault{code: xRange}
	case v == 0:
		v = 0
		return append(dst, 0, 0, 0, 0, 0, 0, 0, 0), fault{}
	}
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), fault{}
}

func appendHex(dst, b []byte, form uint8) []byte {
	digits := hexDigits[16*int(form) : 16*int(form)+16]
	at := len(dst)
	dst = grown(dst, 2*len(b))
	out := dst[at:]
	for i, c := range b {
		out[2*i], out[2*i+1] = digits[c>>4], digits[c&15]
	}
	return dst
}

// grown makes room for more bytes, and does not allocate where there is some.
func grown(dst []byte, more int) []byte {
	if need := len(dst) + more; need <= cap(dst) {
		return dst[:need]
	}
	out := make([]byte, len(dst)+more, 2*len(dst)+more)
	copy(out, dst)
	return out
}

func appendFit(dst, b []byte, width int) []byte {
	at := len(dst)
	dst = grown(dst, width)
	for i := copy(dst[at:], b); i < width; i++ {
		dst[at+i] = 0
	}
	return dst
}

func appendReversed(dst, b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		dst = append(dst, b[i])
	}
	return dst
}

// appendTurned puts a number with its sign turned, so that negative numbers come first.
func appendTurned(dst, b []byte) []byte {
	at := len(dst)
	dst = append(dst, b...)
	dst[at] ^= 0x80
	return dst
}

func appendTupleBytes(dst, b []byte) []byte {
	dst = append(dst, 1)
	for _, c := range b {
		dst = append(dst, c)
		if c == 0 {
			dst = append(dst, 0xff)
		}
	}
	return append(dst, 0)
}

func appendTupleText(dst []byte, s string) []byte {
	dst = append(dst, 2)
	for i := 0; i < len(s); i++ {
		dst = append(dst, s[i])
		if s[i] == 0 {
			dst = append(dst, 0xff)
		}
	}
	return append(dst, 0)
}

// textFault refuses a text that is out of its domain. The alphabet is nil for all of UTF-8.
func textFault(s string, alphabet, first *[4]uint64, min, max int, oneOf ...int) fault {
	l := lengths{min: min, max: max, oneOf: oneOf}
	if !l.admits(len(s)) {
		return fault{code: fLength, a: len(s)}
	}
	if alphabet != nil {
		at, from := 0, 0
		if first != nil {
			for from = firstLength(s); at < from && contains(first, s[at]); {
				at++
			}
		}
		if at == from {
			for at < len(s) && contains(alphabet, s[at]) {
				at++
			}
		}
		if at < len(s) {
			return fault{at: at, code: xByte, a: int(s[at]), b: textWant(first, at)}
		}
	}
	if !utf8.ValidString(s) {
		return fault{code: fUTF8}
	}
	return fault{}
}

// leftOut tells whether a text is one of those that its domain does not have.
func leftOut(s string, except ...string) bool {
	for _, one := range except {
		if s == one {
			return true
		}
	}
	return false
}

func exceptFault(s string, except ...string) fault {
	if leftOut(s, except...) {
		return fault{code: xLeftOut}
	}
	return fault{}
}

func classFault(b []byte, class *[4]uint64) fault {
	if at := alphabetRun(class, b); at < len(b) {
		return fault{at: at, code: xByte, a: int(b[at]), b: wantAlphabet}
	}
	return fault{}
}

func firstLength(s string) int {
	if len(s) > 4 {
		s = s[:4]
	}
	var room [4]byte
	return firstCharacter(room[:copy(room[:], s)])
}

func nibbleFault(b []byte, l lengths) fault {
	if f := l.checkArg(len(b)); f.code != 0 {
		return f
	}
	if at := nibbleRun(b); at < len(b) {
		return fault{at: at, code: xByte, a: int(b[at]), b: wantNibble}
	}
	return fault{}
}

func appendNibbles(dst, b []byte) ([]byte, fault) {
	return append(dst, b...), fault{}
}

func appendNibblesPacked(dst, b []byte) ([]byte, fault) {
	if len(b)%2 != 0 {
		return dst, fault{code: fLength, a: len(b)}
	}
	for i := 0; i < len(b); i += 2 {
		dst = append(dst, b[i]<<4|b[i+1])
	}
	return dst, fault{}
}

func appendNibblesHexPrefix(dst, b []byte) ([]byte, fault) {
	head := byte(0)
	if len(b)%2 != 0 {
		head, b = 0x10|b[0], b[1:]
	}
	dst = append(dst, head)
	for i := 0; i < len(b); i += 2 {
		dst = append(dst, b[i]<<4|b[i+1])
	}
	return dst, fault{}
}

// appendNibblesCounted puts how many nibbles there are, then two in a byte.
func appendNibblesCounted(dst, b []byte) ([]byte, fault) {
	if len(b) > math.MaxUint8 {
		return dst, fault{code: fLength, a: len(b)}
	}
	dst = append(dst, byte(len(b)))
	for i := 0; i+1 < len(b); i += 2 {
		dst = append(dst, b[i]<<4|b[i+1])
	}
	if len(b)%2 != 0 {
		dst = append(dst, b[len(b)-1]<<4)
	}
	return dst, fault{}
}

// appendCount puts a length or count; one that does not fit is refused.
func appendCount(dst []byte, n int, form uint8) ([]byte, bool) {
	switch form {
	case len8:
		return append(dst, byte(n)), n <= math.MaxUint8
	case len16:
		return binary.BigEndian.AppendUint16(dst, uint16(n)), n <= math.MaxUint16
	case len32:
		return binary.BigEndian.AppendUint32(dst, uint32(n)), uint64(n) <= math.MaxUint32
	case len64:
		return binary.BigEndian.AppendUint64(dst, uint64(n)), true
	case len16le:
		return binary.LittleEndian.AppendUint16(dst, uint16(n)), n <= math.MaxUint16
	case len32le:
		return binary.LittleEndian.AppendUint32(dst, uint32(n)), uint64(n) <= math.MaxUint32
	case len64le:
		return binary.LittleEndian.AppendUint64(dst, uint64(n)), true
	case compactlen:
		return appendCompactSize(dst, uint64(n)), uint64(n) <= math.MaxUint32
	case scalelen:
		return appendScaleCompact(dst, 0, uint64(n)), uint64(n) <= math.MaxUint32
	default:
		return appendLEB128(dst, 0, uint64(n)), true
	}
}

// frameLen puts the length of everything from at on before it.
func frameLen(dst []byte, at int, form uint8) ([]byte, fault) {
	size := len(dst) - at
	var room [10]byte
	head, ok := appendCount(room[:0], size, form)
	if !ok {
		return dst, fault{code: fLength, a: size}
	}
	dst = append(dst, head...)
	copy(dst[at+len(head):], dst[at:at+size])
	copy(dst[at:], head)
	return dst, fault{}
}

// frameEscaped escapes the zeros from at on and puts the end, one zero or two.
func frameEscaped(dst []byte, at, end int) []byte {
	read := len(dst)
	for i := at; i < read; i++ {
		if dst[i] == 0 {
			dst = append(dst, 0)
		}
	}
	for write := len(dst); read < write; {
		read--
		write--
		if dst[read] == 0 {
			dst[write] = 0xff
			write--
		}
		dst[write] = dst[read]
	}
	for ; end > 0; end-- {
		dst = append(dst, 0)
	}
	return dst
}

// frameOrdered escapes 00 and ff from at on and puts the end.
func frameOrdered(dst []byte, at int) []byte {
	read := len(dst)
	for i := at; i < read; i++ {
		if dst[i] == 0 || dst[i] == 0xff {
			dst = append(dst, 0)
		}
	}
	for write := len(dst); read < write; {
		read--
		write--
		if dst[read] == 0 || dst[read] == 0xff {
			dst[write] = ^dst[read]
			write--
		}
		dst[write] = dst[read]
	}
	return append(dst, 0, 1)
}

// frameMemcmp puts everything from at on in groups of eight, each with a marker.
func frameMemcmp(dst []byte, at int) []byte {
	size := len(dst) - at
	full, rest := size/8, size%8
	for i := rest; i < 8; i++ {
		dst = append(dst, 0)
	}
	for i := 0; i <= full; i++ {
		dst = append(dst, 0)
	}
	for group := full; group >= 0; group-- {
		from, to := at+8*group, at+9*group
		copy(dst[to:to+8], dst[from:from+8])
		dst[to+8] = 0xff
	}
	dst[len(dst)-1] = 0xf7 + byte(rest)
	return dst
}

func complementTail(dst []byte, at int) {
	for i := at; i < len(dst); i++ {
		dst[i] = ^dst[i]
	}
}

func hashTail(dst []byte, at int, hash func(b []byte) [32]byte, keep int) []byte {
	digest := hash(dst[at:])
	return append(dst[:at], digest[:keep]...)
}

// hashFront puts the hash of everything from at on before it.
func hashFront(dst []byte, at int, hash func(b []byte) [32]byte, keep int) []byte {
	digest := hash(dst[at:])
	size := len(dst) - at
	dst = append(dst, digest[:keep]...)
	copy(dst[at+keep:], dst[at:at+size])
	copy(dst[at:], digest[:keep])
	return dst
}

func rangeFault(bad bool) fault {
	if bad {
		return fault{code: xRange}
	}
	return fault{}
}
