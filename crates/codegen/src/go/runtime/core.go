package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// KeyError says which argument, or which byte, is at fault.
type KeyError struct {
	// Family is the path of the family in the plan, with the part if it is not the key.
	Family string
	// Segment is the argument or literal that is at fault.
	Segment string
	// Offset is the byte that breaks a key, and -1 where an argument is refused.
	Offset int
	// Reason is what is wrong there.
	Reason string
	// Err is ErrDecode, ErrRefused or ErrOtherReading.
	Err error
}

// ErrDecode is wrapped by errors about bytes that the layout does not write.
var ErrDecode = errors.New("not written by this layout")

// ErrRefused is wrapped by errors about arguments outside of their domain.
var ErrRefused = errors.New("argument outside of its domain")

// ErrOtherReading is wrapped by errors about arguments whose bytes can also be read as something else, which is a flaw
// that the plan accepts.
var ErrOtherReading = errors.New("the bytes can also be read as something else")

// Error describes the fault in one line.
func (e *KeyError) Error() string {
	var b strings.Builder
	b.WriteString(e.Family)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ": byte %d", e.Offset)
	}
	if e.Segment != "" {
		fmt.Fprintf(&b, ": `%s`", e.Segment)
	}
	b.WriteString(": ")
	b.WriteString(e.Reason)
	return b.String()
}

// Unwrap returns what kind of fault it is.
func (e *KeyError) Unwrap() error {
	return e.Err
}

// Range is a range of keys: Start is part of it, End is not. A nil End means that there is none.
type Range struct {
	Start, End []byte
}

// Contains tells whether a key lies in the range.
func (r Range) Contains(key []byte) bool {
	return bytes.Compare(key, r.Start) >= 0 && (r.End == nil || bytes.Compare(key, r.End) < 0)
}

func prefixRange(prefix []byte) Range {
	return Range{Start: prefix, End: prefixEnd(prefix)}
}

// prefixEnd returns the least key above all that begin with prefix, nil if there is none.
func prefixEnd(prefix []byte) []byte {
	for last := len(prefix) - 1; last >= 0; last-- {
		if prefix[last] != 0xff {
			end := append([]byte(nil), prefix[:last+1]...)
			end[last]++
			return end
		}
	}
	return nil
}

// narrowed keeps a range from ending before it starts.
func narrowed(r Range) Range {
	if r.End != nil && bytes.Compare(r.Start, r.End) > 0 {
		r.End = r.Start
	}
	return r
}

func startAfter(r Range, bound []byte, whole bool) Range {
	if whole {
		r.Start = append(bound, 0)
		return narrowed(r)
	}
	end := prefixEnd(bound)
	if end == nil {
		r.Start, r.End = bound, bound
		return r
	}
	r.Start = end
	return narrowed(r)
}

func endThrough(r Range, bound []byte, whole bool) Range {
	if whole {
		r.End = append(bound, 0)
	} else {
		r.End = prefixEnd(bound)
	}
	return narrowed(r)
}

// fault says what is wrong at an offset; its code is 0 where nothing is.
type fault struct {
	at   int
	code uint8
	a, b int
}

const (
	fNone uint8 = iota
	fShort
	fTrailing
	fLiteral
	fByte
	fLength
	fLeadingZero
	fRange
	fSign
	fUTF8
	fNotShortest
	fMismatch
	fBech32
	fFloat
	fTime
	fDiffers
	fNoAlternative
	fLeftOut
	xRange
	xByte
	xNan
	xInexact
	xBech32
	xCount
	xLeftOut
)

const (
	wantDigit = iota
	wantLowerHex
	wantUpperHex
	wantBool
	wantTickSign
	wantAlphabet
	wantFirst
	wantNibble
	wantEscape
	wantGroupMarker
	wantPadding
	wantTypeCode
	wantScoreTag
	wantTime
	wantVarintHead
	wantHexPrefixHead
	wantBech32
	wantBase58
)

func wanted(code int) string {
	switch code {
	case wantDigit:
		return "a digit"
	case wantLowerHex:
		return "a lower-case hex digit"
	case wantUpperHex:
		return "an upper-case hex digit"
	case wantBool:
		return "00 or 01"
	case wantTickSign:
		return "05 (negative) or 06"
	case wantAlphabet:
		return "a character of its alphabet"
	case wantFirst:
		return "a character that may come first"
	case wantNibble:
		return "00 to 0f"
	case wantEscape:
		return "ff or the end after 00"
	case wantGroupMarker:
		return "a group marker"
	case wantPadding:
		return "00 as padding"
	case wantTypeCode:
		return "its type code"
	case wantScoreTag:
		return "00 (confirmed) or 01 (unconfirmed)"
	case wantTime:
		return "a date and time"
	case wantVarintHead:
		return "the head of a number"
	case wantHexPrefixHead:
		return "00 or 10 to 1f"
	case wantBase58:
		return "a base58 character"
	default:
		return "a lower-case bech32 character"
	}
}

func counted(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func (f fault) reason() string {
	switch f.code {
	case fShort:
		return "ends " + counted(uint64(f.a)) + " too soon"
	case fTrailing:
		return counted(uint64(f.a)) + " too many"
	case fLiteral:
		return fmt.Sprintf("%02x where %02x belongs", f.b, f.a)
	case fByte:
		return fmt.Sprintf("%02x where %s belongs", f.a, wanted(f.b))
	case fLength:
		return fmt.Sprintf("a length of %d is not allowed", f.a)
	case fLeadingZero:
		return "a leading zero"
	case fRange:
		return "a number out of its range"
	case fSign:
		return fmt.Sprintf("sign byte %02x, but the number after it calls for %02x", f.a, f.b)
	case fUTF8:
		return "not UTF-8"
	case fNotShortest:
		return "a number written longer than it need be"
	case fMismatch:
		return "does not match what it is computed from"
	case fBech32:
		return "not bech32 text with the right prefix, case and checksum"
	case fFloat:
		return "not a number, or a negative zero"
	case fTime:
		return "no such date or time"
	case fDiffers:
		return "differs from the first copy of the argument"
	case fNoAlternative:
		return "no alternative begins like this"
	case fLeftOut:
		return "a text that its domain leaves out"
	case xRange:
		return "the number is out of its range"
	case xByte:
		return fmt.Sprintf("byte %d is %02x where %s belongs", f.at, f.a, wanted(f.b))
	case xNan:
		return "not a number"
	case xInexact:
		return "the encoding cannot hold this number exactly"
	case xBech32:
		return "bech32 cannot hold this"
	case xLeftOut:
		return "the text is one that its domain leaves out"
	case xCount:
		return fmt.Sprintf("%d elements are not allowed", f.a)
	default:
		return "refused"
	}
}

func (f fault) behind(base int) fault {
	f.at += base
	return f
}

func refused(family, segment string, f fault) error {
	return &KeyError{Family: family, Segment: segment, Offset: -1, Reason: f.reason(), Err: ErrRefused}
}

func otherReading(family, other string) error {
	return &KeyError{Family: family, Offset: -1, Reason: "can also be read as " + other, Err: ErrOtherReading}
}

func short(found, needed int) fault {
	return fault{at: found, code: fShort, a: needed - found}
}

func trailing(found, used int) fault {
	return fault{at: used, code: fTrailing, a: found - used}
}

func wrongWidth(found, width int) fault {
	if found < width {
		return short(found, width)
	}
	return trailing(found, width)
}

func clip(b []byte, start, end int) []byte {
	if start > len(b) {
		start = len(b)
	}
	if end > len(b) {
		end = len(b)
	}
	return b[start:end]
}

// lengths are the lengths that something may have: one of, or a range of which max -1 is no limit.
type lengths struct {
	min, max int
	oneOf    []int
}

// intOf is a length that an int need not hold: no slice is longer than the greatest one.
func intOf(length uint64) int {
	if length > math.MaxInt {
		return math.MaxInt
	}
	return int(length)
}

func (l lengths) admits(n int) bool {
	if l.oneOf == nil {
		return n >= l.min && (l.max < 0 || n <= l.max)
	}
	for _, one := range l.oneOf {
		if n == one {
			return true
		}
	}
	return false
}

func (l lengths) cap(n int) int {
	if l.max >= 0 && n > l.max {
		return l.max
	}
	return n
}

// check refuses a length, where each element takes scale bytes.
func (l lengths) check(n, scale int) fault {
	if l.admits(n) {
		return fault{}
	}
	return fault{at: l.cap(n) * scale, code: fLength, a: n}
}

func (l lengths) checkArg(n int) fault {
	if l.admits(n) {
		return fault{}
	}
	return fault{code: fLength, a: n}
}
