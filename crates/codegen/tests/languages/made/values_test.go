package keys

import (
	"fmt"
	"sort"
	"strings"
	"testing"
)

// rows is one store, which refuses what those of the SDK refuse.
type rows struct {
	t    *testing.T
	held map[string]string
}

type walk struct {
	of   *rows
	keys []string
}

func (r *rows) iterator(start, end []byte) *walk {
	w := &walk{of: r}
	for key := range r.held {
		if key >= string(start) && (end == nil || key < string(end)) {
			w.keys = append(w.keys, key)
		}
	}
	sort.Strings(w.keys)
	return w
}

func (r *rows) set(key, value []byte) {
	if len(key) == 0 || value == nil {
		r.t.Fatalf("%x: %v is not a row", key, value)
	}
	r.held[string(key)] = string(value)
}

func (r *rows) delete(key []byte) { delete(r.held, string(key)) }

func (w *walk) Valid() bool   { return len(w.keys) > 0 }
func (w *walk) Next()         { w.keys = w.keys[1:] }
func (w *walk) Key() []byte   { return []byte(w.keys[0]) }
func (w *walk) Value() []byte { return []byte(w.of.held[w.keys[0]]) }
func (w *walk) Error() error  { return nil }
func (w *walk) Close() error  { return nil }

func TestValues(t *testing.T) {
	r := &rows{t, map[string]string{"\x02\x07": "", "\x03": "of others"}}
	// More rows than one step of a migration reads.
	const count = 10007
	for id := uint32(0); id < count; id++ {
		key, _ := OldNote{ID: id}.AppendTo(nil)
		value, _ := OldNoteValue{Text: strings.Repeat("x", int(id%3))}.AppendTo(nil)
		r.held[string(key)] = string(value)
	}
	done, err := Migrate(func(string) MigrationStore[*walk] {
		return MigrationStore[*walk]{Iterator: r.iterator, Set: r.set, Delete: r.delete}
	})
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprint(done); said != "[{s.note 10007 0 0} {s.gone 0 1 0}]" {
		t.Error(said)
	}
	if len(r.held) != count+1 {
		t.Errorf("%d rows", len(r.held))
	}
	for id := uint64(0); id < count; id++ {
		key := Note{ID: id}.Key()
		if value := r.held[string(key[:])]; value != strings.Repeat("x", int(id%3)) {
			t.Fatalf("%x is %q", key, value)
		}
	}
}
