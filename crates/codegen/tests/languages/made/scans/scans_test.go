package scans

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func hexRange(r Range) string {
	end := "none"
	if r.End != nil {
		end = hex.EncodeToString(r.End)
	}
	return hex.EncodeToString(r.Start) + " " + end
}

func equal(t *testing.T, found, wanted string) {
	t.Helper()
	if found != wanted {
		t.Errorf("%s, not %s", found, wanted)
	}
}

func TestScanByDerivedPart(t *testing.T) {
	slot, err := SlottedByNsSlot(7, 12739)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(slot), "050731c3 050731c4")
	// The check value of CRC-16/XMODEM is 31c3, which is 12739.
	key, err := Slotted{Ns: 7, User: []byte("123456789")}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if !slot.Contains(key) {
		t.Errorf("%x is not in its slot", key)
	}
	if _, err := SlottedByNsSlot(7, 16384); err == nil {
		t.Error("there is no slot 16384")
	}
}

func TestScans(t *testing.T) {
	all, err := TickAll()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(all), "01 02")
	pool, err := TickByPool(7)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(pool.Range), "010000000000000007 010000000000000008")
	from, err := pool.From(-1)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(from.Range), "01000000000000000705ffffffffffffffff 010000000000000008")
	to, err := from.Through(0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(to.Range), "01000000000000000705ffffffffffffffff 010000000000000007060000000000000001")
	after, err := pool.After(-1)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(after.Range), "01000000000000000706 010000000000000008")
	below, err := pool.To(0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(below.Range), "010000000000000007 010000000000000007060000000000000000")
	for tick, in := range map[int64]bool{-2: false, -1: true, 0: true, 1: false} {
		key := Tick{Pool: 7, Tick: tick}.Key()
		if to.Contains(key[:]) != in {
			t.Errorf("tick %d", tick)
		}
	}
	names, err := NameByOwner([2]byte{0xff, 0xff})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(names.Range), "ffffff none")
	only, err := names.Through("b")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(only.Range), "ffffff ffffff6200")
	more, err := names.After("b")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hexRange(more.Range), "ffffff6200 none")
}

func TestSpaces(t *testing.T) {
	key := Tick{Pool: 7, Tick: -42}.Key()
	any, err := DecodeSKey(key[:])
	if tick, ok := any.(Tick); err != nil || !ok || tick != (Tick{Pool: 7, Tick: -42}) || tick.Family() != "s.tick" {
		t.Errorf("%v, %v", any, err)
	}
	if any, err := DecodeOtherKey([]byte{1}); err != nil || any.Family() != "other.pool_1" {
		t.Errorf("%v, %v", any, err)
	}
	_, err = DecodeSKey(key[:12])
	var fault *KeyError
	if !errors.As(err, &fault) || fault.Family != "s.tick" || fault.Segment != "tick" || fault.Offset != 12 || fault.Reason != "ends 6 bytes too soon" {
		t.Errorf("%#v", err)
	}
	if _, err := (Pair{A: "ab", B: "c"}).AppendTo(nil); !errors.Is(err, ErrOtherReading) {
		t.Errorf("%v", err)
	}
}

// keyCodec is the interface KeyCodec[T] of cosmossdk.io/collections/codec.
type keyCodec[T any] interface {
	Encode(buffer []byte, key T) (int, error)
	Decode(buffer []byte) (int, T, error)
	Size(key T) int
	EncodeJSON(value T) ([]byte, error)
	DecodeJSON(b []byte) (T, error)
	Stringify(key T) string
	KeyType() string
	EncodeNonTerminal(buffer []byte, key T) (int, error)
	DecodeNonTerminal(buffer []byte) (int, T, error)
	SizeNonTerminal(key T) int
}

// codecHolds does what the collections' own test of codecs does.
func codecHolds[T comparable](t *testing.T, c keyCodec[T], key T, wanted string) {
	t.Helper()
	buffer := make([]byte, c.Size(key))
	written, err := c.Encode(buffer, key)
	if err != nil || written != len(buffer) {
		t.Fatalf("%d of %d: %v", written, len(buffer), err)
	}
	equal(t, hex.EncodeToString(buffer), wanted)
	read, back, err := c.Decode(buffer)
	if err != nil || read != written || back != key {
		t.Errorf("%d, %v: %v", read, back, err)
	}
	inner := make([]byte, c.SizeNonTerminal(key)+3)
	written, err = c.EncodeNonTerminal(inner, key)
	if err != nil || written != len(inner)-3 {
		t.Fatalf("%d of %d: %v", written, len(inner)-3, err)
	}
	read, back, err = c.DecodeNonTerminal(append(inner[:written:written], 1, 2, 3))
	if err != nil || read != written || back != key {
		t.Errorf("%d, %v: %v", read, back, err)
	}
	text, err := c.EncodeJSON(key)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := c.DecodeJSON(text); err != nil || back != key {
		t.Errorf("%s: %v, %v", text, back, err)
	}
	if c.KeyType() == "" || c.Stringify(key) != string(text) {
		t.Errorf("%q, %q", c.KeyType(), c.Stringify(key))
	}
}

func TestCodecs(t *testing.T) {
	codecHolds[Tick](t, TickKeyCodec(), Tick{Pool: 7, Tick: -1}, "000000000000000705ffffffffffffffff")
	codecHolds[Name](t, NameKeyCodec(), Name{Owner: [2]byte{1, 2}, Name: "ab"}, "01026162")
	codecHolds[Name](t, NameKeyCodec(), Name{}, "0000")
	if size := NameKeyCodec().Size(Name{Name: "longer than nine"}); size != 0 {
		t.Errorf("%d", size)
	}
	if _, err := NameKeyCodec().Encode(make([]byte, 99), Name{Name: "longer than nine"}); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
}

// valueCodec is the interface ValueCodec[T] of cosmossdk.io/collections/codec.
type valueCodec[T any] interface {
	Encode(value T) ([]byte, error)
	Decode(b []byte) (T, error)
	EncodeJSON(value T) ([]byte, error)
	DecodeJSON(b []byte) (T, error)
	Stringify(value T) string
	ValueType() string
}

func TestValueCodecs(t *testing.T) {
	var c valueCodec[TickValue] = TickValueCodec()
	value := TickValue{Value: TickValueValue{Liquidity: Uint128{Hi: 1, Lo: 2}, Fee: 3}}
	made, err := c.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, hex.EncodeToString(made), "000000000000000100000000000000020300")
	if back, err := c.Decode(made); err != nil || back != value {
		t.Errorf("%v: %v", back, err)
	}
	if _, err := c.Decode(made[:17]); !errors.Is(err, ErrDecode) {
		t.Errorf("%v", err)
	}
	text, err := c.EncodeJSON(value)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := c.DecodeJSON(text); err != nil || back != value {
		t.Errorf("%s: %v, %v", text, back, err)
	}
	if c.Stringify(value) != string(text) || c.ValueType() != "s.tick value" {
		t.Errorf("%q, %q", c.Stringify(value), c.ValueType())
	}
	if _, err := c.DecodeJSON([]byte("{")); err == nil {
		t.Error("half an object was read")
	}
}

// TestJSONOfNoKey: what collections show of a key may be of no key, and what they read is from people.
func TestJSONOfNoKey(t *testing.T) {
	c, held := TypedKeyCodec(), TypedValueCodec()
	key := Typed{Owner: [3]byte{1, 2, 3}, N: 4, Level: 5, Kind: TypedKindSome{ID: 6}, User: "ab", Rest: []byte{7}}
	key.Wide[31] = 8
	text, err := c.EncodeJSON(key)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(text), `{"owner":"010203","n":4,"level":5,"kind":{"some":{"id":6}},"flag":"off","user":"ab","wide":"8","rest":"07"}`)
	if back, err := c.DecodeJSON(text); err != nil || c.Stringify(back) != string(text) {
		t.Errorf("%v: %v", back, err)
	}
	if c.Stringify(Typed{}) == "" || held.Stringify(TypedValue{}) == "" {
		t.Error("a key without a kind is not shown")
	}
	if _, err := c.EncodeJSON(Typed{}); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	if _, err := held.EncodeJSON(TypedValue{}); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	for _, change := range [][2]string{
		{`"010203"`, `"0102"`}, {`"010203"`, `"01020304"`}, {`"010203"`, `"01020x"`}, {`"010203"`, `{"a":1}`},
		{`"n":4`, `"n":256`}, {`"n":4`, `"n":-1`}, {`"n":4`, `"n":4.5`}, {`"n":4`, `"n":null`}, {`"n":4`, `"m":4`}, {`"n":4`, `"n":true`},
		{`"level":5`, `"level":16777216`}, {`"level":5`, `"level":4294967297`},
		{`{"some":{"id":6}}`, `{"some":{"id":65536}}`}, {`{"some":{"id":6}}`, `{"some":{}}`}, {`{"some":{"id":6}}`, `"some"`},
		{`{"some":{"id":6}}`, `{"some":{"id":6},"none":{}}`}, {`{"some":{"id":6}}`, `{}`}, {`{"some":{"id":6}}`, `"other"`}, {`{"some":{"id":6}}`, `null`},
		{`"off"`, `"of"`}, {`"off"`, `0`},
		{`"ab"`, `""`}, {`"ab"`, `"AB"`}, {`"ab"`, `7`}, {`"ab"`, `["ab"]`}, {`"ab"`, `{}`}, {`"ab"`, `"abcde"`},
		{`"8"`, `"57896044618658097711785492504343953926634992332820282019728792003956564819968"`},
		{`"8"`, `"-57896044618658097711785492504343953926634992332820282019728792003956564819969"`},
		{`"07"`, `"0708090a0b"`}, {`"07"`, `7`}, {`"07"`, `null`}, {`}`, `}}`}, {`"rest":"07"}`, `"rest":"07"} {}`},
	} {
		wrong := strings.Replace(string(text), change[0], change[1], 1)
		if back, err := c.DecodeJSON([]byte(wrong)); err == nil {
			t.Errorf("%s is read as %s", wrong, c.Stringify(back))
		}
	}
	for _, wrong := range []string{`"1/2x"`, `"1"`, `"@1.5"`, `"4294967296/1"`, `""`, `{}`} {
		text := `{"kind":"none","at":` + wrong + `,"rest":""}`
		if back, err := held.DecodeJSON([]byte(text)); err == nil {
			t.Errorf("%s is read as %s", text, held.Stringify(back))
		}
	}
}

// TestUnmarshalCopies: whoever calls UnmarshalBinary may use the bytes again.
func TestUnmarshalCopies(t *testing.T) {
	key, err := Slotted{Ns: 7, User: []byte("abc")}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read Slotted
	if err := read.UnmarshalBinary(key); err != nil {
		t.Fatal(err)
	}
	for i := range key {
		key[i] = 0xff
	}
	equal(t, string(read.User), "abc")
}

type row struct{ key, value []byte }

type iterator struct {
	rows   []row
	closed *bool
}

func (i *iterator) Valid() bool   { return len(i.rows) > 0 }
func (i *iterator) Next()         { i.rows = i.rows[1:] }
func (i *iterator) Key() []byte   { return i.rows[0].key }
func (i *iterator) Value() []byte { return i.rows[0].value }
func (i *iterator) Error() error  { return nil }
func (i *iterator) Close() error  { *i.closed = true; return nil }

func TestEach(t *testing.T) {
	var rows []row
	for tick := int64(-3); tick < 3; tick++ {
		key := Tick{Pool: 7, Tick: tick}.Key()
		rows = append(rows, row{key[:], nil})
	}
	closed := false
	open := func(start, end []byte) *iterator {
		it := &iterator{closed: &closed}
		for _, one := range rows {
			if bytes.Compare(one.key, start) >= 0 && bytes.Compare(one.key, end) < 0 {
				it.rows = append(it.rows, one)
			}
		}
		return it
	}
	pool, err := TickByPool(7)
	if err != nil {
		t.Fatal(err)
	}
	pool, err = pool.From(-1)
	if err != nil {
		t.Fatal(err)
	}
	var found []int64
	err = Each(open, pool.Range, func(key, _ []byte) (bool, error) {
		tick, err := DecodeTick(key)
		found = append(found, tick.Tick)
		return len(found) < 3, err
	})
	if err != nil || len(found) != 3 || found[0] != -1 || found[2] != 1 || !closed {
		t.Errorf("%v, %v, %v", found, err, closed)
	}
}
