package runtime

import "math"

// clipped keeps an append to a slice from writing over what comes after it.
func clipped(b []byte) []byte {
	return b[:len(b):len(b)]
}

func optionOf[T any](v val, of func(v val) T) *T {
	if v.i == 0 {
		return nil
	}
	inner := of(v.l[0])
	return &inner
}

func listOf[T any](v val, of func(v val) T) []T {
	out := make([]T, 0, len(v.l))
	for _, item := range v.l {
		out = append(out, of(item))
	}
	return out
}

func optionVal[T any](v *T, of func(v T) val) val {
	if v == nil {
		return val{}
	}
	return val{i: 1, l: []val{of(*v)}}
}

func listVal[T any](all []T, of func(v T) val) val {
	var out val
	for _, item := range all {
		out.l = append(out.l, of(item))
	}
	return out
}

func choiceVal(one interface{ val() val }) val {
	if one == nil {
		return val{i: -1}
	}
	return one.val()
}

func boolVal(v bool) val {
	if v {
		return val{lo: 1}
	}
	return val{}
}

func floatVal(v float64) val {
	return val{lo: math.Float64bits(v)}
}

func digestOf(v val, known []knownName) []byte {
	if v.i == 1 {
		for _, one := range known {
			if one.name == string(v.b) {
				return []byte(one.digest)
			}
		}
	}
	return v.b
}

func digestVal(b []byte, known []knownName) val {
	for _, one := range known {
		if one.digest == string(b) {
			return val{b: []byte(one.name), i: 1}
		}
	}
	return val{b: b}
}

const (
	lossNone uint8 = iota
	lossSaturating
	lossFit
	lossFloatBadger
	lossZero
	lossLow
	lossHigh
	lossIntFloat
)

// canonical is what a value is read back as, where the encoding loses information.
func canonical(n *node, v val) val {
	switch n.loss {
	case lossSaturating:
		if v.hi>>63 != 0 {
			return val{}
		}
	case lossLow:
		hi, lo := n.lowest(v.hi, v.lo)
		return val{hi: hi, lo: lo}
	case lossHigh:
		hi, lo := n.highest(v.hi, v.lo)
		return val{hi: hi, lo: lo}
	case lossIntFloat:
		lo := n.intOfFloat(n.floatOfInt(v.lo))
		return val{hi: n.sign(lo), lo: lo}
	case lossFit:
		b := make([]byte, n.min)
		copy(b, v.b)
		return val{b: b}
	case lossFloatBadger:
		return floatVal(unbadger(badger(math.Float64frombits(v.lo))))
	case lossZero:
		if v.lo == 1<<63 {
			return val{}
		}
	}
	switch n.kind {
	case kRecord:
		return val{l: n.seq.canonical(v.l)}
	case kChoice:
		if v.i >= 0 && v.i < len(n.alts) {
			return val{i: v.i, l: n.alts[v.i].seq.canonical(v.l)}
		}
	case kOption, kList:
		out := val{i: v.i}
		for _, item := range v.l {
			out.l = append(out.l, canonical(n.inner, item))
		}
		return out
	case kFramed, kDesc, kHashConcat:
		return canonical(n.inner, v)
	}
	return v
}

func (l *layout) canonical(values []val) []val {
	var out []val
	for i := range l.steps {
		if l.steps[i].kind == sArgument && len(out) < len(values) {
			out = append(out, canonical(l.steps[i].n, values[len(out)]))
		}
	}
	return out
}

// guardReadings is how many readings of its own a guard looks at.
const guardReadings = 8

// guard refuses bytes that can also be read as other arguments of the layout, or as one of the others.
func (l *layout) guard(family string, b []byte, values []val, own bool, names []string, others []*layout) error {
	if own {
		found, _ := l.readings(b, guardReadings)
		values = l.canonical(values)
		for _, one := range found {
			if !sameAll(one, values) {
				return otherReading(family, family)
			}
		}
	}
	for i, other := range others {
		if found, _ := other.readings(b, 1); len(found) > 0 {
			return otherReading(family, names[i])
		}
	}
	return nil
}
