package runtime

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

const (
	jInt uint8 = iota
	jBool
	jFloat
	jTime
	jScore
	jBytes
	jText
	jNibbles
	jWide
)

// jsonTime is how a time is written.
const jsonTime = "2006-01-02T15:04:05.000000000"

// argsOf reads the arguments of a layout from a JSON object. Each is of its type, and may be outside of its domain.
func (l *layout) argsOf(text []byte) ([]val, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var j any
	if err := d.Decode(&j); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something comes after the object")
	}
	return l.valuesOf(j, false)
}

func (l *layout) valuesOf(j any, body bool) ([]val, error) {
	var out []val
	object, ok := j.(map[string]any)
	for i := range l.steps {
		st := &l.steps[i]
		if st.kind != sArgument {
			continue
		}
		value, found := object[st.label]
		if body && st.unnamed {
			value, found = j, true
		} else if !ok {
			return nil, errors.New("an object is missing")
		}
		if !found {
			return nil, fmt.Errorf("the argument `%s` is missing", st.label)
		}
		v, err := valOf(st.n, value)
		if err != nil {
			return nil, fmt.Errorf("`%s`: %w", st.label, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func valOf(n *node, j any) (val, error) {
	switch n.kind {
	case kRecord:
		values, err := n.seq.valuesOf(j, true)
		return val{l: values}, err
	case kChoice:
		label, inner := "", any(nil)
		switch one := j.(type) {
		case string:
			label = one
		case map[string]any:
			if len(one) != 1 {
				return val{}, fmt.Errorf("an object of %d alternatives, not of one", len(one))
			}
			for name, of := range one {
				label, inner = name, of
			}
		}
		for i := range n.alts {
			if n.alts[i].label == label {
				if inner == nil && n.alts[i].seq.isBare() {
					return val{i: i}, nil
				}
				values, err := n.alts[i].seq.valuesOf(inner, true)
				return val{i: i, l: values}, err
			}
		}
		return val{}, fmt.Errorf("there is no alternative %v", j)
	case kOption:
		if j == nil {
			return val{}, nil
		}
		if isBoxed(n.inner) {
			all, ok := j.([]any)
			if !ok || len(all) != 1 {
				return val{}, errors.New("a list of what is in the outer option is missing")
			}
			j = all[0]
		}
		v, err := valOf(n.inner, j)
		return val{i: 1, l: []val{v}}, err
	case kList:
		all, ok := j.([]any)
		if !ok {
			return val{}, errors.New("a list is missing")
		}
		var out val
		for _, item := range all {
			v, err := valOf(n.inner, item)
			if err != nil {
				return val{}, err
			}
			out.l = append(out.l, v)
		}
		return out, nil
	case kHashed:
		if object, ok := j.(map[string]any); ok {
			if text, ok := object["digest"].(string); ok {
				b, err := hex.DecodeString(text)
				if err == nil && len(b) != n.keep {
					err = fmt.Errorf("a digest of %s, not of %d", counted(uint64(len(b))), n.keep)
				}
				return val{b: b}, err
			}
		}
		if text, ok := j.(string); ok {
			for _, known := range n.known {
				if known.name == text {
					return val{b: []byte(text), i: 1}, nil
				}
			}
		}
		return val{}, errors.New("a digest is missing")
	case kFramed, kDesc, kHashConcat:
		return valOf(n.inner, j)
	}
	return leafOf(n, j)
}

// isBare tells whether a layout has no arguments.
func (l *layout) isBare() bool {
	for i := range l.steps {
		if l.steps[i].kind == sArgument {
			return false
		}
	}
	return true
}

// isBoxed tells whether what an option holds may be null itself, and is put into a list.
func isBoxed(n *node) bool {
	for n.kind == kFramed || n.kind == kDesc || n.kind == kHashConcat {
		n = n.inner
	}
	return n.kind == kOption
}

func leafOf(n *node, j any) (val, error) {
	if n.show == jBool {
		truth, ok := j.(bool)
		if !ok {
			return val{}, fmt.Errorf("%v is not true or false", j)
		}
		return boolVal(truth), nil
	}
	text, ok := j.(string)
	if number, is := j.(json.Number); is && (n.show == jInt || n.show == jWide || n.show == jFloat) {
		text, ok = number.String(), true
	}
	if !ok {
		return val{}, fmt.Errorf("%v is not a string", j)
	}
	switch n.show {
	case jInt:
		v, err := integerOf(text, nativeBits(n.bits), n.signed)
		if err != nil {
			return val{}, err
		}
		if v.Sign() < 0 {
			v.Add(v, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
		return val{hi: new(big.Int).Rsh(v, 64).Uint64(), lo: low.Uint64()}, nil
	case jWide:
		v, err := integerOf(text, 256, n.signed)
		if err != nil {
			return val{}, err
		}
		if v.Sign() < 0 {
			v.Add(v, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		return val{b: v.FillBytes(make([]byte, 32))}, nil
	case jFloat:
		if rest, ok := cut(text, "bits:"); ok {
			raw, err := strconv.ParseUint(rest, 16, 64)
			return val{lo: raw}, err
		}
		f, err := strconv.ParseFloat(text, 64)
		return floatVal(f), err
	case jTime:
		t, err := time.Parse(jsonTime, text)
		return timeVal(t), err
	case jScore:
		return scoreFrom(text)
	case jText:
		return val{b: []byte(text)}, nil
	case jNibbles:
		var out val
		for i := 0; i < len(text); i++ {
			if strings.IndexByte(hexDigits, text[i]) < 0 {
				return val{}, fmt.Errorf("%q is not a hex digit", text[i])
			}
			out.b = append(out.b, hexValue(text[i]))
		}
		return out, nil
	default:
		b, err := hex.DecodeString(text)
		if size, ok := n.arraySize(); ok && err == nil && len(b) != size {
			err = fmt.Errorf("%s, not %d", counted(uint64(len(b))), size)
		}
		return val{b: b}, err
	}
}

// integerOf reads an integer of a type.
func integerOf(text string, bits int, signed bool) (*big.Int, error) {
	v, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, fmt.Errorf("%q is not an integer", text)
	}
	fits := v.Sign() >= 0 && v.BitLen() <= bits
	if signed {
		size := v
		if v.Sign() < 0 {
			size = new(big.Int).Not(v)
		}
		fits = size.BitLen() < bits
	}
	if !fits {
		return nil, fmt.Errorf("%s does not fit %d bits", text, bits)
	}
	return v, nil
}

// nativeBits is the width of the type that holds a number of so many bits.
func nativeBits(bits int) int {
	for native := 8; native < 128; native *= 2 {
		if bits <= native {
			return native
		}
	}
	return 128
}

// arraySize is the length of bytes that are held as an array.
func (n *node) arraySize() (int, bool) {
	fixed := n.lens.min == n.lens.max && n.lens.min <= 64 && n.loss == lossNone
	// Bytes of which nothing is known have no lengths either.
	return n.lens.min, fixed && (n.lens.min > 0 || n.max == 0)
}

func scoreFrom(text string) (val, error) {
	var s Score
	var err error
	if rest, ok := cut(text, "@"); ok {
		s.Unconfirmed = true
		_, err = fmt.Sscanf(rest, "%d.%d", &s.Seconds, &s.Nanos)
	} else {
		_, err = fmt.Sscanf(text, "%d/%d", &s.Height, &s.Index)
	}
	if err == nil && scoreText(s) != text {
		err = fmt.Errorf("%q is not a score", text)
	}
	return scoreVal(s), err
}

func scoreText(s Score) string {
	if s.Unconfirmed {
		return fmt.Sprintf("@%d.%09d", s.Seconds, s.Nanos)
	}
	return fmt.Sprintf("%d/%d", s.Height, s.Index)
}

func cut(text, prefix string) (string, bool) {
	return strings.TrimPrefix(text, prefix), strings.HasPrefix(text, prefix)
}

// appendArgs puts the arguments of a layout as a JSON object.
func (l *layout) appendArgs(dst []byte, values []val, body bool) []byte {
	if body && len(values) == 1 {
		for i := range l.steps {
			if l.steps[i].kind == sArgument && l.steps[i].unnamed {
				return appendJSON(dst, l.steps[i].n, values[0])
			}
		}
	}
	dst = append(dst, '{')
	count := 0
	for i := range l.steps {
		if st := &l.steps[i]; st.kind == sArgument && count < len(values) {
			if count > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, st.label), ':')
			dst = appendJSON(dst, st.n, values[count])
			count++
		}
	}
	return append(dst, '}')
}

func appendString(dst []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return append(dst, `""`...)
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func appendJSON(dst []byte, n *node, v val) []byte {
	switch n.kind {
	case kRecord:
		return n.seq.appendArgs(dst, v.l, true)
	case kChoice:
		if v.i < 0 || v.i >= len(n.alts) {
			return append(dst, "null"...)
		}
		one := &n.alts[v.i]
		if len(v.l) == 0 {
			return appendString(dst, one.label)
		}
		dst = append(appendString(append(dst, '{'), one.label), ':')
		return append(one.seq.appendArgs(dst, v.l, true), '}')
	case kOption:
		if v.i == 0 {
			return append(dst, "null"...)
		}
		if isBoxed(n.inner) {
			return append(appendJSON(append(dst, '['), n.inner, v.l[0]), ']')
		}
		return appendJSON(dst, n.inner, v.l[0])
	case kList:
		dst = append(dst, '[')
		for i, item := range v.l {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, n.inner, item)
		}
		return append(dst, ']')
	case kHashed:
		if v.i == 1 {
			return appendString(dst, string(v.b))
		}
		return append(appendString(append(dst, `{"digest":`...), hex.EncodeToString(v.b)), '}')
	case kFramed, kDesc, kHashConcat:
		return appendJSON(dst, n.inner, v)
	}
	switch n.show {
	case jInt:
		negative, hi, lo := false, v.hi, v.lo
		if n.signed {
			negative, hi, lo = magnitude128(hi, lo)
		}
		if n.bits > 32 {
			return append(appendDec128(append(dst, '"'), negative, hi, lo), '"')
		}
		return appendDec128(dst, negative, hi, lo)
	case jWide:
		number := new(big.Int).SetBytes(v.b)
		if n.signed && number.Bit(255) != 0 {
			number.Sub(number, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		return appendString(dst, number.String())
	case jBool:
		return strconv.AppendBool(dst, v.lo != 0)
	case jFloat:
		f := math.Float64frombits(v.lo)
		if math.IsNaN(f) || v.lo == 1<<63 {
			return appendString(dst, fmt.Sprintf("bits:%016x", v.lo))
		}
		if math.IsInf(f, 0) {
			return appendString(dst, strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+")))
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	case jTime:
		return appendString(dst, timeOf(v).Format(jsonTime))
	case jScore:
		return appendString(dst, scoreText(scoreOf(v)))
	case jText:
		return appendString(dst, string(v.b))
	case jNibbles:
		dst = append(dst, '"')
		for _, c := range v.b {
			dst = append(dst, hexDigits[c&15])
		}
		return append(dst, '"')
	default:
		return appendString(dst, hex.EncodeToString(v.b))
	}
}
