package keys

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
)

// store is one store of a chain: rows in the order of their keys, which may not be written while they are iterated.
type store struct {
	t    *testing.T
	rows map[string]string
	open int
}

type iterator struct {
	s    *store
	keys []string
}

func (s *store) iterator(start, end []byte) *iterator {
	var keys []string
	for key := range s.rows {
		if key >= string(start) && (end == nil || key < string(end)) {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	s.open++
	return &iterator{s, keys}
}

func (s *store) set(key, value []byte) {
	if s.open > 0 || key == nil || value == nil {
		s.t.Fatal("a write that stores refuse")
	}
	if _, there := s.rows[string(key)]; there {
		s.t.Fatalf("%x is written over", key)
	}
	s.rows[string(key)] = string(value)
}

func (s *store) delete(key []byte) {
	if s.open > 0 {
		s.t.Fatal("a write that stores refuse")
	}
	delete(s.rows, string(key))
}

func (i *iterator) Valid() bool   { return len(i.keys) > 0 }
func (i *iterator) Next()         { i.keys = i.keys[1:] }
func (i *iterator) Key() []byte   { return []byte(i.keys[0]) }
func (i *iterator) Value() []byte { return []byte(i.s.rows[i.keys[0]]) }
func (i *iterator) Error() error  { return nil }
func (i *iterator) Close() error  { i.s.open--; return nil }

func rowBytes(t *testing.T, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMigration(t *testing.T) {
	file, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	stores, wanted := map[string]*store{}, map[string]map[string]string{}
	of := func(space string) *store {
		if stores[space] == nil {
			stores[space], wanted[space] = &store{t: t, rows: map[string]string{}}, map[string]string{}
		}
		return stores[space]
	}
	moved := 0
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, 1<<20)
	for number := 0; lines.Scan(); number++ {
		words := strings.Split(lines.Text(), " ")
		from, key, to, made := words[0], string(rowBytes(t, words[1])), words[2], string(rowBytes(t, words[3]))
		value := fmt.Sprint(number)
		if old, there := of(from).rows[key]; there {
			value = old
		} else if from != to || key != made {
			moved++
		}
		of(from).rows[key] = value
		of(to)
		wanted[to][made] = value
	}
	done, err := Migrate(func(space string) MigrationStore[*iterator] {
		s := of(space)
		return MigrationStore[*iterator]{Iterator: s.iterator, Set: s.set, Delete: s.delete}
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, one := range done {
		count += one.Moved
	}
	if count != moved || moved == 0 {
		t.Errorf("%d rows moved, %d expected", count, moved)
	}
	for space, s := range stores {
		if len(s.rows) != len(wanted[space]) {
			t.Errorf("%s has %d rows, %d expected", space, len(s.rows), len(wanted[space]))
		}
		for key, value := range wanted[space] {
			if s.rows[key] != value {
				t.Errorf("%s: %x is %q, %q expected", space, key, s.rows[key], value)
			}
		}
	}
}
