package runtime

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// argsOf reads the arguments of a layout from a JSON object.
func (l *layout) argsOf(text []byte) ([]val, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var j any
	if err := d.Decode(&j); err != nil {
		return nil, err
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
			for name, of := range one {
				label, inner = name, of
			}
		}
		for i := range n.alts {
			if n.alts[i].label == label {
				values, err := n.alts[i].seq.valuesOf(inner, true)
				if inner == nil && len(values) == 0 {
					err = nil
				}
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

// isBoxed tells whether what an option holds may be null itself, and is put into a list.
func isBoxed(n *node) bool {
	for n.kind == kFramed || n.kind == kDesc || n.kind == kHashConcat {
		n = n.inner
	}
	return n.kind == kOption
}

func leafOf(n *node, j any) (val, error) {
	text := ""
	switch one := j.(type) {
	case bool:
		if n.show == jBool {
			return boolVal(one), nil
		}
	case string:
		text = one
	case json.Number:
		text = one.String()
	}
	switch n.show {
	case jInt:
		v, ok := new(big.Int).SetString(text, 10)
		if !ok || v.BitLen() > 128 {
			return val{}, fmt.Errorf("%v is not an integer", j)
		}
		if v.Sign() < 0 {
			v.Add(v, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
		return val{hi: new(big.Int).Rsh(v, 64).Uint64(), lo: low.Uint64()}, nil
	case jWide:
		v, ok := new(big.Int).SetString(text, 10)
		if !ok || v.BitLen() > 256 {
			return val{}, fmt.Errorf("%v is not an integer", j)
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
		t, err := time.Parse("2006-01-02T15:04:05.000000000", text)
		return timeVal(t), err
	case jScore:
		return scoreFrom(text)
	case jText:
		return val{b: []byte(text)}, nil
	case jNibbles:
		var out val
		for i := 0; i < len(text); i++ {
			out.b = append(out.b, hexValue(text[i]))
		}
		return out, nil
	default:
		b, err := hex.DecodeString(text)
		return val{b: b}, err
	}
}

func scoreFrom(text string) (val, error) {
	var s Score
	if rest, ok := cut(text, "@"); ok {
		s.Unconfirmed = true
		_, err := fmt.Sscanf(rest, "%d.%d", &s.Seconds, &s.Nanos)
		return scoreVal(s), err
	}
	_, err := fmt.Sscanf(text, "%d/%d", &s.Height, &s.Index)
	return scoreVal(s), err
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
		return appendString(dst, timeOf(v).Format("2006-01-02T15:04:05.000000000"))
	case jScore:
		s := scoreOf(v)
		if s.Unconfirmed {
			return appendString(dst, fmt.Sprintf("@%d.%09d", s.Seconds, s.Nanos))
		}
		return appendString(dst, fmt.Sprintf("%d/%d", s.Height, s.Index))
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
