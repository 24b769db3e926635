package runtime

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// vectorPart is a layout as the tests drive it.
type vectorPart struct {
	layout    *layout
	encode    func(values []val, dst []byte) ([]byte, error)
	unguarded func(values []val, dst []byte) ([]byte, error)
	decode    func(b []byte) ([]val, error)
	allocs    func(values []val) float64
}

// vector is one line of a file of vectors.
type vector struct {
	Part    string          `json:"part"`
	Scan    string          `json:"scan"`
	Count   int             `json:"count"`
	Result  string          `json:"result"`
	Args    json.RawMessage `json:"args"`
	Hex     string          `json:"hex"`
	Offset  int             `json:"offset"`
	Segment string          `json:"segment"`
	Reason  string          `json:"reason"`
	Derived string          `json:"derived"`
	Bound   string          `json:"bound"`
	Start   string          `json:"start"`
	End     *string         `json:"end"`
}

// eachVector calls test for every line of a file, of which the first says how many there are.
func eachVector(t testing.TB, path string, test func(number int, line vector, b []byte)) {
	wanted, found := 0, 0
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for number := 1; lines.Scan(); number++ {
		var line vector
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
		b, err := hex.DecodeString(line.Hex)
		if err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
		if line.Part == "" {
			wanted = line.Count
			continue
		}
		found++
		test(number, line, b)
	}
	if err := lines.Err(); err != nil || found != wanted {
		t.Fatalf("%d lines, not %d: %v", found, wanted, err)
	}
}

// vectorSpace is the decoder of the space of a family, and whether no two families of it make the same bytes.
type vectorSpace struct {
	family   func(b []byte) (string, error)
	disjoint bool
}

// familyBy tells the family of a key by the decoder of its space.
func familyBy[K interface{ Family() string }](decode func(key []byte) (K, error)) func(b []byte) (string, error) {
	return func(b []byte) (string, error) {
		k, err := decode(b)
		if err != nil {
			return "", err
		}
		return k.Family(), nil
	}
}

// vectorScan is a scan as the tests drive it: by the arguments of a row and perhaps a derived part, and bounded by the next argument.
type vectorScan func(values []val, derived val, bound string) (Range, error)

// testScan compares the bounds of a scan.
func testScan(t *testing.T, number int, line vector, values []val, scan vectorScan) {
	if scan == nil {
		t.Errorf("line %d: there is no scan of %q %s", number, line.Part, line.Scan)
		return
	}
	var derived val
	if line.Derived != "" {
		var err error
		if derived, err = leafOf(&node{bits: 64}, line.Derived); err != nil {
			t.Errorf("line %d: %v", number, err)
			return
		}
	}
	r, err := scan(values, derived, line.Bound)
	if line.Result == "refused" {
		if !errors.Is(err, ErrRefused) {
			t.Errorf("line %d: %s %s %s: not refused: %x to %x, %v", number, line.Part, line.Scan, line.Args, r.Start, r.End, err)
		}
		return
	}
	start, end := hex.EncodeToString(r.Start), hex.EncodeToString(r.End)
	if err != nil || start != line.Start || (r.End == nil) != (line.End == nil) || line.End != nil && end != *line.End {
		t.Errorf("line %d: %s %s %s %s %s: %s to %s: %v", number, line.Part, line.Scan, line.Args, line.Derived, line.Bound, start, end, err)
	}
}

func runVectors(t *testing.T, path string, parts map[string]vectorPart, spaces map[string]vectorSpace, scans map[string]vectorScan) {
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("there are no vectors: %v", err)
	}
	eachVector(t, path, func(number int, line vector, b []byte) {
		part, ok := parts[line.Part]
		if !ok {
			t.Errorf("line %d: there is no %q", number, line.Part)
			return
		}
		if line.Result == "invalid" {
			_, err := part.decode(b)
			var fault *KeyError
			if !errors.As(err, &fault) || !errors.Is(err, ErrDecode) {
				t.Errorf("line %d: %s %x: not refused: %v", number, line.Part, b, err)
			} else if fault.Offset != line.Offset || fault.Segment != line.Segment || fault.Reason != line.Reason {
				t.Errorf("line %d: %s %x: %v, not byte %d, %q: %s", number, line.Part, b, err, line.Offset, line.Segment, line.Reason)
			}
			return
		}
		values, err := part.layout.argsOf(line.Args)
		if err != nil {
			t.Errorf("line %d: %s: %v", number, line.Args, err)
			return
		}
		if line.Scan != "" {
			testScan(t, number, line, values, scans[line.Part+" "+line.Scan])
			return
		}
		made, err := part.encode(values, nil)
		switch line.Result {
		case "refused":
			if !errors.Is(err, ErrRefused) {
				t.Errorf("line %d: %s %s: not refused: %x, %v", number, line.Part, line.Args, made, err)
			}
			return
		case "guarded":
			if !errors.Is(err, ErrOtherReading) {
				t.Errorf("line %d: %s %s: not guarded: %x, %v", number, line.Part, line.Args, made, err)
			}
			made, err = part.unguarded(values, nil)
		}
		if err != nil || !bytes.Equal(made, b) {
			t.Errorf("line %d: %s %s: made %x, not %x: %v", number, line.Part, line.Args, made, b, err)
		}
		if line.Result != "valid" {
			return
		}
		read, err := part.decode(b)
		if err != nil || !sameAll(read, values) {
			t.Errorf("line %d: %s %x: read %s, not %s: %v", number, line.Part, b, part.layout.appendArgs(nil, read, false), line.Args, err)
		}
		if space, ok := spaces[line.Part]; ok {
			if family, err := space.family(b); err != nil || space.disjoint && family != line.Part {
				t.Errorf("line %d: %s %x: read as a key of %q: %v", number, line.Part, b, family, err)
			}
		}
		if allocs := part.allocs(values); allocs != 0 {
			t.Errorf("line %d: %s %s: %v allocations", number, line.Part, line.Args, allocs)
		}
	})
}

// cuts tells whether a layout has bytes that are cut: what is read of them has another length, and may be no argument.
func (l *layout) cuts() bool {
	for i := range l.steps {
		if n := l.steps[i].n; n != nil && n.cutsInside() {
			return true
		}
	}
	return false
}

func (n *node) cutsInside() bool {
	for i := range n.alts {
		if n.alts[i].seq.cuts() {
			return true
		}
	}
	return n.loss == lossFit || n.inner != nil && n.inner.cutsInside() || n.seq != nil && n.seq.cuts()
}

// fuzzPart looks for bytes that are read and not written again.
func fuzzPart(f *testing.F, path, name string, part vectorPart) {
	eachVector(f, path, func(_ int, line vector, b []byte) {
		if line.Part == name && len(b) > 0 {
			f.Add(b)
		}
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := part.decode(b)
		if err != nil {
			return
		}
		made, err := part.unguarded(values, nil)
		if errors.Is(err, ErrRefused) && part.layout.cuts() {
			return
		}
		if err != nil || !bytes.Equal(made, b) {
			t.Fatalf("%x is read as %s, which is %x: %v", b, part.layout.appendArgs(nil, values, false), made, err)
		}
	})
}
