package runtime

import (
	"bytes"
	"strings"
)

// val is an argument as the search holds it: a number of 128 bits, bytes, or a list; i is the alternative, whether an
// option is there, or whether a digest is known by name.
type val struct {
	hi, lo uint64
	b      []byte
	l      []val
	i      int
}

func same(a, b val) bool {
	return a.hi == b.hi && a.lo == b.lo && a.i == b.i && bytes.Equal(a.b, b.b) && sameAll(a.l, b.l)
}

func sameAll(a, b []val) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

const (
	kLeaf uint8 = iota
	kRecord
	kChoice
	kOption
	kList
	kFramed
	kDesc
	kHashed
	kHashConcat
)

const (
	endFixed uint8 = iota
	endMarked
	endOpen
)

// node is the shape of one argument: its codec, its domain, what is inside.
type node struct {
	kind     uint8
	end      uint8
	min, max int
	decode   func(n *node, b []byte) (val, fault)
	extent   func(n *node, b []byte) (int, fault)
	longest  func(n *node, b []byte) int
	unframe  func(n *node, b []byte) (int, []byte, fault)
	bits     int
	signed   bool
	least    [2]uint64
	most     [2]uint64
	lens     lengths
	alphabet [4]uint64
	first    *[4]uint64
	except   []string
	text     string
	inner    *node
	seq      *layout
	alts     []alternative
	hash     func(b []byte) [32]byte
	keep     int
	known    []knownName
	sep      string
	counted  bool
	form     uint8
	loss     uint8
	show     uint8
}

type alternative struct {
	label string
	seq   *layout
}

type knownName struct {
	digest string
	name   string
}

const (
	sLiteral uint8 = iota
	sArgument
	sSame
	sDerived
)

// step is one segment of a layout.
type step struct {
	kind    uint8
	label   string
	lit     string
	n       *node
	of      int
	from    []int
	derive  func(b []byte) uint64
	modulus uint64
	tail    [2]int
	unnamed bool
}

// layout is segments in a row. max is -1 without a limit.
type layout struct {
	min, max int
	plain    bool
	steps    []step
}

const (
	maxSteps = 1 << 20
	maxDepth = 1024
	maxBlank = 1 << 12
	noOffset = -1
)

// search looks for readings of bytes, and keeps how far it got.
type search struct {
	steps, depth int
	far          int
	why          fault
	label        string
	exhausted    bool
}

func (s *search) fail(at int, f fault, label string) {
	if at > s.far {
		s.far, s.why, s.label = at, f, label
	}
}

func (s *search) step(size int) bool {
	s.steps += 1 + size/16
	if s.steps > maxSteps {
		s.exhausted = true
	}
	return !s.exhausted
}

// readings returns up to limit argument lists that the bytes may stand for.
func (l *layout) readings(b []byte, limit int) ([][]val, *search) {
	s := &search{far: noOffset}
	return s.sequence(l, b, 0, limit), s
}

// read returns the first reading, or says why there is none.
func (l *layout) read(family string, b []byte) ([]val, error) {
	found, s := l.readings(b, 1)
	if len(found) > 0 {
		return found[0], nil
	}
	return nil, s.refuse(family)
}

func (s *search) refuse(family string) error {
	e := &KeyError{Family: family, Segment: s.label, Offset: s.far, Reason: s.why.reason(), Err: ErrDecode}
	if s.far < 0 {
		e.Offset, e.Reason = 0, fault{code: fNoAlternative}.reason()
	}
	if s.exhausted {
		e.Reason = "the layout allows too many splits of this key"
	}
	return e
}

// rowState is a sequence half read.
type rowState struct {
	b           []byte
	base, limit int
	branches    int
	starts      []int
	values      []val
	found       [][]val
	dead        map[[2]int]bool
}

func (s *search) sequence(l *layout, b []byte, base, limit int) [][]val {
	r := &rowState{b: b, base: base, limit: limit}
	s.row(l, r, 0, 0)
	return r.found
}

func (s *search) row(l *layout, r *rowState, first, at int) {
	starts, values := len(r.starts), len(r.values)
	s.depth++
	if s.depth > maxDepth {
		s.exhausted = true
	} else {
		s.run(l, r, first, at)
	}
	s.depth--
	r.starts, r.values = r.starts[:starts], r.values[:values]
}

// run goes on as long as each segment has one end and one value, and branches where it has more.
func (s *search) run(l *layout, r *rowState, first, at int) {
	for index := first; index < len(l.steps); index++ {
		st := &l.steps[index]
		if !s.step(0) {
			return
		}
		if !l.plain {
			r.starts = append(r.starts, at)
		}
		rest := r.b[at:]
		switch st.kind {
		case sLiteral:
			if !hasPrefix(rest, st.lit) {
				s.literal(st.lit, rest, r.base+at, st.label)
				return
			}
			at += len(st.lit)
			continue
		case sDerived:
			width, f := st.n.min, fault{}
			if st.n.end != endFixed {
				width, f = st.n.extent(st.n, rest)
			}
			if f.code == 0 && width > len(rest) {
				f = short(len(rest), width)
			}
			if f.code == 0 {
				_, f = st.n.decode(st.n, rest[:width])
			}
			if f.code != 0 {
				s.fail(r.base+at+f.at, f, st.label)
				return
			}
			at += width
			continue
		}
		end := len(r.b)
		switch {
		case st.n.end == endFixed:
			if st.n.min > len(rest) {
				s.fail(r.base+len(r.b), fault{code: fShort, a: st.n.min - len(rest)}, st.label)
				return
			}
			end = at + st.n.min
		case st.n.end == endMarked:
			width, f := s.delimit(st.n, rest)
			if f.code != 0 {
				s.fail(r.base+at+f.at, f, st.label)
				return
			}
			end = at + width
		case index+1 < len(l.steps):
			s.branch(l, r, index, at)
			return
		}
		found := s.values(st.n, r.b[at:end], r.base+at, r.left(st), st.label)
		if len(found) == 0 {
			return
		}
		if len(found) > 1 {
			s.goOn(l, r, index, at, end, found)
			return
		}
		if !s.place(l, r, index, at, found[0]) {
			return
		}
		at = end
	}
	s.finish(l, r, at)
}

// left is how many values of a step may be of use: one for each reading that is still wanted. A copy must come to the
// value of its original, which is one of the first.
func (r *rowState) left(st *step) int {
	if st.kind == sSame {
		return r.limit
	}
	return r.limit - len(r.found)
}

func (s *search) goOn(l *layout, r *rowState, index, at, end int, values []val) {
	r.branches++
	for _, v := range values {
		kept := len(r.values)
		if s.place(l, r, index, at, v) {
			s.row(l, r, index+1, end)
		}
		r.values = r.values[:kept]
		if len(r.found) >= r.limit || s.exhausted {
			break
		}
	}
	r.branches--
}

// place keeps the value of a segment; false if it is a copy that differs from its original.
func (s *search) place(l *layout, r *rowState, index, at int, v val) bool {
	st := &l.steps[index]
	if st.kind == sSame {
		if st.of < len(r.values) && same(r.values[st.of], v) {
			return true
		}
		s.fail(r.base+at, fault{code: fDiffers}, st.label)
		return false
	}
	r.values = append(r.values, v)
	return true
}

func (s *search) literal(lit string, rest []byte, base int, label string) {
	n := 0
	for n < len(lit) && n < len(rest) && lit[n] == rest[n] {
		n++
	}
	if n < len(rest) {
		s.fail(base+n, fault{code: fLiteral, a: int(lit[n]), b: int(rest[n])}, label)
		return
	}
	s.fail(base+n, fault{code: fShort, a: len(lit) - n}, label)
}

func (s *search) finish(l *layout, r *rowState, at int) {
	if at != len(r.b) {
		label := ""
		if len(l.steps) > 0 {
			label = l.steps[len(l.steps)-1].label
		}
		s.fail(r.base+at, fault{code: fTrailing, a: len(r.b) - at}, label)
		return
	}
	if !l.plain && !s.derivedMatch(l, r) {
		return
	}
	for _, found := range r.found {
		if sameAll(found, r.values) {
			return
		}
	}
	r.found = append(r.found, append([]val(nil), r.values...))
}

func (s *search) derivedMatch(l *layout, r *rowState) bool {
	piece := func(index int) (int, []byte) {
		start, end := r.starts[index], len(r.b)
		if index+1 < len(r.starts) {
			end = r.starts[index+1]
		}
		return start, r.b[start:end]
	}
	for index := range l.steps {
		st := &l.steps[index]
		if st.kind != sDerived {
			continue
		}
		var joined []byte
		for _, of := range st.from {
			_, bytes := piece(of)
			joined = append(joined, bytes...)
		}
		start, bytes := piece(index)
		v, f := st.n.decode(st.n, bytes)
		want := st.derive(joined)
		if st.modulus != 0 {
			want %= st.modulus
		}
		if f.code != 0 || v.hi != 0 || v.lo != want {
			s.fail(r.base+start, fault{code: fMismatch}, st.label)
			return false
		}
	}
	return true
}

// branch tries every end that an open segment may have.
func (s *search) branch(l *layout, r *rowState, index, at int) {
	st := &l.steps[index]
	next := ""
	if following := &l.steps[index+1]; following.kind == sLiteral {
		next = following.lit
	}
	rest := r.b[at:]
	reach := len(rest)
	if st.n.longest != nil {
		reach = st.n.longest(st.n, rest)
	}
	if st.n.max >= 0 && reach > st.n.max {
		reach = st.n.max
	}
	most, least := len(rest)-st.tail[0], st.n.min
	if most < 0 {
		most = 0
	}
	if reach < most {
		most = reach
	}
	if st.tail[1] >= 0 && len(rest)-st.tail[1] > least {
		least = len(rest) - st.tail[1]
	}
	tried := false
	for size := least; size <= most; size++ {
		if !hasPrefix(rest[size:], next) {
			continue
		}
		tried = true
		place := [2]int{index + 1, at + size}
		if r.dead[place] {
			continue
		}
		if !s.step(size) {
			return
		}
		before := len(r.found)
		found := s.values(st.n, rest[:size], r.base+at, r.left(st), st.label)
		s.goOn(l, r, index, at, at+size, found)
		if len(r.found) >= r.limit || s.exhausted {
			return
		}
		if l.plain && len(found) > 0 && len(r.found) == before {
			if r.dead == nil {
				r.dead = map[[2]int]bool{}
			}
			r.dead[place] = true
		}
	}
	if tried {
		return
	}
	stop := reach
	if stop > len(rest) {
		stop = len(rest)
	}
	f := fault{code: fShort, a: st.tail[0]}
	switch {
	case stop < len(rest) && next != "":
		f = fault{code: fLiteral, a: int(next[0]), b: int(rest[stop])}
	case stop < len(rest):
		f = fault{code: fByte, a: int(rest[stop]), b: wantAlphabet}
	case f.a < 1:
		f.a = 1
	}
	s.fail(r.base+at+stop, f, st.label)
}

func admitsWidth(n *node, size int) bool {
	return size >= n.min && (n.max < 0 || size <= n.max)
}

// values returns the values of a shape that is exactly the bytes.
func (s *search) values(n *node, b []byte, base, limit int, label string) []val {
	switch n.kind {
	case kRecord:
		var all []val
		for _, row := range s.sequence(n.seq, b, base, limit) {
			all = append(all, val{l: row})
		}
		return all
	case kChoice:
		var all []val
		for i := range n.alts {
			if len(all) >= limit {
				break
			}
			for _, row := range s.sequence(n.alts[i].seq, b, base, limit-len(all)) {
				all = append(all, val{i: i, l: row})
			}
		}
		if len(all) == 0 && len(b) == 0 {
			s.fail(base, fault{code: fShort, a: 1}, label)
		}
		return all
	case kOption:
		var all []val
		if len(b) == 0 {
			all = append(all, val{})
		}
		fits := admitsWidth(n.inner, len(b))
		if len(all) < limit && fits {
			for _, v := range s.values(n.inner, b, base, limit-len(all), label) {
				all = append(all, val{i: 1, l: []val{v}})
			}
		}
		if len(all) == 0 && !fits {
			s.fail(base, fault{code: fLength, a: len(b)}, label)
		}
		return all
	case kList:
		return s.list(n, b, base, limit, label)
	case kFramed:
		skip, content, f := n.unframe(n, b)
		if f.code != 0 {
			s.fail(base+f.at, f, label)
			return nil
		}
		return s.values(n.inner, content, base+skip, limit, label)
	case kDesc:
		return s.values(n.inner, complemented(b), base, limit, label)
	case kHashed:
		if len(b) != n.keep {
			s.fail(base, fault{code: fLength, a: len(b)}, label)
			return nil
		}
		for _, known := range n.known {
			if known.digest == string(b) {
				return []val{{b: []byte(known.name), i: 1}}
			}
		}
		return []val{{b: b}}
	case kHashConcat:
		if len(b) < n.keep {
			f := short(len(b), n.keep)
			s.fail(base+f.at, f, label)
			return nil
		}
		digest := n.hash(b[n.keep:])
		if !bytes.Equal(digest[:n.keep], b[:n.keep]) {
			s.fail(base, fault{code: fMismatch}, label)
			return nil
		}
		return s.values(n.inner, b[n.keep:], base+n.keep, limit, label)
	default:
		v, f := n.decode(n, b)
		if f.code != 0 {
			s.fail(base+f.at, f, label)
			return nil
		}
		return []val{v}
	}
}

// list returns the lists that are exactly the bytes: depth first over the ends of the elements.
func (s *search) list(n *node, b []byte, base, limit int, label string) []val {
	head, count := 0, -1
	if n.counted {
		size, number, f := countAt(n.form, b)
		if f.code != 0 {
			s.fail(base+f.at, f, label)
			return nil
		}
		head, count = size, number
	}
	admits := func(size int) bool { return n.lens.admits(size) && (count < 0 || count == size) }
	most := n.lens.max
	if count >= 0 {
		most = count
	}
	var all, values []val
	var ends [][2]int
	var places [][][2]int
	if head == len(b) && admits(0) {
		all, places = append(all, val{}), append(places, nil)
	}
	// Elements of no bytes are tried after all others, so that the search ends; -1 is after them.
	first, blanks := 0, 0
	if n.sep == "" && n.inner.min == 0 {
		first, blanks = 1, most
		if most < 0 {
			blanks = len(b) + 1
			if blanks < n.lens.min {
				blanks = n.lens.min
			}
		}
		if blanks > len(b)+maxBlank {
			blanks = len(b) + maxBlank
		}
	}
	before := []int{len(all)}
	dead := map[[2]int]bool{}
	least := first
	for len(all) < limit {
		if !s.step(0) {
			break
		}
		start := head
		if len(ends) > 0 {
			start = ends[len(ends)-1][1] + len(n.sep)
		}
		place := [2]int{start, len(values)}
		found := false
		var end int
		var v val
		if (most < 0 || len(values) < most) && start <= len(b) && least >= 0 && !dead[place] {
			end, v, found = s.item(n, b, start, least, base, label)
			if !found && len(values) < blanks {
				if none := s.values(n.inner, nil, base+start, 1, label); len(none) > 0 {
					end, v, found = start, none[0], true
				}
			}
		}
		if found {
			ends, values, least = append(ends, [2]int{start, end}), append(values, v), first
			if end == len(b) {
				if admits(len(values)) {
					all = append(all, val{l: append([]val(nil), values...)})
					places = append(places, append([][2]int(nil), ends...))
				} else {
					s.fail(base+start, fault{code: fLength, a: len(values)}, label)
				}
			}
			before = append(before, len(all))
			continue
		}
		if before[len(before)-1] == len(all) && blanks > 0 {
			dead[place] = true
		}
		before = before[:len(before)-1]
		if len(ends) == 0 {
			break
		}
		last := ends[len(ends)-1]
		ends, values = ends[:len(ends)-1], values[:len(values)-1]
		least = last[1] - last[0] + 1
		if last[0] == last[1] && blanks > 0 {
			least = -1
		}
	}
	if len(all) == 0 && len(b) == head {
		s.fail(base+head, fault{code: fLength}, label)
	}
	far, why, at := s.far, s.why, s.label
	for i := range places {
		all = s.otherElements(n, b, base, limit, label, all[i].l, places[i], all)
	}
	s.far, s.why, s.label = far, why, at
	return all
}

// otherElements adds the lists with another reading of one element. Those with other readings of several would multiply,
// and one is enough to show that there is another list.
func (s *search) otherElements(n *node, b []byte, base, limit int, label string, values []val, places [][2]int, all []val) []val {
	if n.inner.kind == kLeaf {
		return all
	}
	for i, place := range places {
		left := limit - len(all)
		if left <= 0 || !s.step(place[1]-place[0]) {
			break
		}
		others := s.values(n.inner, b[place[0]:place[1]], base+place[0], left+1, label)
		for j := 1; j < len(others); j++ {
			other := append([]val(nil), values...)
			other[i] = others[j]
			all = append(all, val{l: other})
		}
	}
	return all
}

// item returns the next element at start that has at least least bytes.
func (s *search) item(n *node, b []byte, start, least, base int, label string) (int, val, bool) {
	rest, in := b[start:], n.inner
	low, high := least, len(rest)
	if in.end == endOpen {
		if in.longest != nil {
			if reach := in.longest(in, rest); reach < high {
				high = reach
			}
		}
		if in.max >= 0 && in.max < high {
			high = in.max
		}
		if in.min > low {
			low = in.min
		}
	} else {
		width := in.min
		if in.end == endMarked {
			size, f := s.delimit(in, rest)
			if f.code != 0 {
				s.fail(base+start+f.at, f, label)
				return 0, val{}, false
			}
			width = size
		}
		if width > len(rest) {
			s.fail(base+len(b), fault{code: fShort, a: width - len(rest)}, label)
		}
		if width > len(rest) || width < least {
			return 0, val{}, false
		}
		low, high = width, width
	}
	for size := low; size <= high; size++ {
		if !s.step(size) {
			return 0, val{}, false
		}
		if behind := rest[size:]; len(behind) > 0 && !hasPrefix(behind, n.sep) {
			continue
		}
		if found := s.values(in, rest[:size], base+start, 1, label); len(found) > 0 {
			return start + size, found[0], true
		}
	}
	return 0, val{}, false
}

// delimit returns how many bytes at the front belong to a shape that marks its own end.
func (s *search) delimit(n *node, b []byte) (int, fault) {
	switch n.kind {
	case kRecord:
		at := 0
		for i := range n.seq.steps {
			st := &n.seq.steps[i]
			width := len(st.lit)
			if st.kind != sLiteral {
				width = st.n.min
				if st.n.end != endFixed {
					size, f := s.delimit(st.n, clip(b, at, len(b)))
					if f.code != 0 {
						return 0, f.behind(at)
					}
					width = size
				}
			}
			at += width
			if at > len(b) {
				return 0, short(len(b), at)
			}
		}
		return at, fault{}
	case kList:
		at, count, f := countAt(n.form, b)
		if f.code != 0 {
			return 0, f
		}
		for ; count > 0; count-- {
			if !s.step(0) {
				return 0, fault{at: at, code: fRange}
			}
			width := n.inner.min
			if n.inner.end != endFixed {
				size, f := s.delimit(n.inner, b[at:])
				if f.code != 0 {
					return 0, f.behind(at)
				}
				width = size
			}
			if width > len(b)-at {
				return 0, fault{at: len(b), code: fShort, a: width - (len(b) - at)}
			}
			at += width
		}
		return at, fault{}
	case kDesc:
		return s.delimit(n.inner, complemented(b))
	case kHashConcat:
		if len(b) < n.keep {
			return 0, short(len(b), n.keep)
		}
		width, f := s.delimit(n.inner, b[n.keep:])
		return width + n.keep, f.behind(n.keep)
	default:
		return n.extent(n, b)
	}
}

func complemented(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = ^b[i]
	}
	return out
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// nearest returns the error of the layout that gets furthest with the bytes.
func nearest(space string, b []byte, families []string, layouts []*layout) error {
	var best *KeyError
	for i, l := range layouts {
		_, s := l.readings(b, 1)
		e, ok := s.refuse(families[i]).(*KeyError)
		if ok && (best == nil || e.Offset > best.Offset || e.Offset == best.Offset && strings.Compare(e.Family, best.Family) < 0) {
			best = e
		}
	}
	if best == nil {
		return &KeyError{Family: space, Reason: "no family makes this key", Err: ErrDecode}
	}
	return best
}

func digitRun(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

// decimal reads digits without leading zeros that fit 64 bits.
func decimal(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (1<<64-1)/10 {
			return 0, false
		}
		next := n*10 + d
		if next < n*10 {
			return 0, false
		}
		n = next
	}
	return n, true
}

func isText(s string, alphabet, first *[4]uint64, l lengths) bool {
	return l.admits(len(s)) && textFault(s, alphabet, first, 0, -1).code == 0
}
