package runtime

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Iter is what the iterators of all versions of the Cosmos SDK have in common.
type Iter interface {
	Valid() bool
	Next()
	Key() []byte
	Value() []byte
	Error() error
	Close() error
}

// Each calls visit for the rows of a range until it returns false. open is a method of a store, such as store.Iterator or
// store.ReverseIterator.
func Each[I Iter](open func(start, end []byte) I, r Range, visit func(key, value []byte) (bool, error)) error {
	return eachRow(open(r.Start, r.End), visit)
}

// EachOf does the same for stores whose Iterator returns an error.
func EachOf[I Iter](open func(start, end []byte) (I, error), r Range, visit func(key, value []byte) (bool, error)) error {
	it, err := open(r.Start, r.End)
	if err != nil {
		return err
	}
	return eachRow(it, visit)
}

func eachRow(it Iter, visit func(key, value []byte) (bool, error)) (err error) {
	defer func() {
		if closed := it.Close(); err == nil {
			err = closed
		}
	}()
	for ; it.Valid(); it.Next() {
		more, err := visit(it.Key(), it.Value())
		if err != nil || !more {
			return err
		}
	}
	return it.Error()
}

// KeyCodec has the methods of KeyCodec[T] of cosmossdk.io/collections/codec, the same in v0.1.0 to v1.4.0:
//
//	Encode(buffer []byte, key T) (int, error)
//	Decode(buffer []byte) (int, T, error)
//	Size(key T) int
//	EncodeJSON(value T) ([]byte, error)
//	DecodeJSON(b []byte) (T, error)
//	Stringify(key T) string
//	KeyType() string
//	EncodeNonTerminal(buffer []byte, key T) (int, error)
//	DecodeNonTerminal(buffer []byte) (int, T, error)
//	SizeNonTerminal(key T) int
//
// What it writes comes after the family's prefix, which is the prefix of the collection.
type KeyCodec[T any] struct {
	family string
	prefix string
	layout *layout
	marked bool
	put    func(key T, dst []byte) ([]byte, error)
	read   func(key []byte) (T, error)
	vals   func(key T) []val
	from   func(v val) T
}

func (c KeyCodec[T]) behind(key T) ([]byte, error) {
	b, err := c.put(key, make([]byte, 0, 128))
	if err != nil {
		return nil, err
	}
	return b[len(c.prefix):], nil
}

// Encode writes the key at the front of the buffer.
func (c KeyCodec[T]) Encode(buffer []byte, key T) (int, error) {
	b, err := c.behind(key)
	if err != nil {
		return 0, err
	}
	if len(buffer) < len(b) {
		return 0, errors.New("the buffer is too small")
	}
	return copy(buffer, b), nil
}

// Decode reads a key that is all of the buffer. It shares no memory with the buffer.
func (c KeyCodec[T]) Decode(buffer []byte) (int, T, error) {
	key, err := c.read(append([]byte(c.prefix), buffer...))
	return len(buffer), key, err
}

// Size is exactly what Encode writes, and 0 for a key that it refuses.
func (c KeyCodec[T]) Size(key T) int {
	b, err := c.behind(key)
	if err != nil {
		return 0
	}
	return len(b)
}

// EncodeJSON returns the arguments as an object, or refuses one outside of its domain.
func (c KeyCodec[T]) EncodeJSON(value T) ([]byte, error) {
	if _, err := c.behind(value); err != nil {
		return nil, err
	}
	return c.layout.appendArgs(nil, c.vals(value), false), nil
}

// DecodeJSON reads the arguments from an object, or refuses one outside of its domain.
func (c KeyCodec[T]) DecodeJSON(b []byte) (T, error) {
	var none T
	values, err := c.layout.argsOf(b)
	if err != nil {
		return none, fmt.Errorf("%s: %w", c.family, err)
	}
	key := c.from(val{l: values})
	if _, err := c.behind(key); err != nil {
		return none, err
	}
	return key, nil
}

// Stringify shows the arguments.
func (c KeyCodec[T]) Stringify(key T) string {
	return string(c.layout.appendArgs(nil, c.vals(key), false))
}

// KeyType is the path of the family.
func (c KeyCodec[T]) KeyType() string {
	return c.family
}

// EncodeNonTerminal writes a key that something comes after: as it is where its layout marks its own end, else after its
// length.
func (c KeyCodec[T]) EncodeNonTerminal(buffer []byte, key T) (int, error) {
	b, err := c.behind(key)
	if err != nil {
		return 0, err
	}
	if len(buffer) < c.SizeNonTerminal(key) {
		return 0, errors.New("the buffer is too small")
	}
	head := 0
	if !c.marked {
		head = binary.PutUvarint(buffer, uint64(len(b)))
	}
	return head + copy(buffer[head:], b), nil
}

// DecodeNonTerminal reads a key that something comes after.
func (c KeyCodec[T]) DecodeNonTerminal(buffer []byte) (int, T, error) {
	var none T
	if !c.marked {
		size, head := binary.Uvarint(buffer)
		if head <= 0 || size > uint64(len(buffer)-head) {
			return 0, none, &KeyError{Family: c.family, Reason: "ends too soon", Err: ErrDecode}
		}
		_, key, err := c.Decode(buffer[head : head+int(size)])
		return head + int(size), key, err
	}
	s := &search{far: noOffset}
	whole := append([]byte(c.prefix), buffer...)
	size, f := s.delimit(&node{kind: kRecord, seq: c.layout}, whole)
	if f.code != 0 {
		return 0, none, &KeyError{Family: c.family, Offset: f.at, Reason: f.reason(), Err: ErrDecode}
	}
	key, err := c.read(whole[:size])
	return size - len(c.prefix), key, err
}

// SizeNonTerminal is exactly what EncodeNonTerminal writes.
func (c KeyCodec[T]) SizeNonTerminal(key T) int {
	size := c.Size(key)
	if c.marked {
		return size
	}
	var room [binary.MaxVarintLen64]byte
	return binary.PutUvarint(room[:], uint64(size)) + size
}

// ValueCodec has the methods of ValueCodec[T] of cosmossdk.io/collections/codec, the same in v0.1.0 to v1.4.0:
//
//	Encode(value T) ([]byte, error)
//	Decode(b []byte) (T, error)
//	EncodeJSON(value T) ([]byte, error)
//	DecodeJSON(b []byte) (T, error)
//	Stringify(value T) string
//	ValueType() string
type ValueCodec[T any] struct {
	name   string
	layout *layout
	put    func(value T) ([]byte, error)
	read   func(b []byte) (T, error)
	vals   func(value T) []val
	from   func(v val) T
}

// Encode returns the bytes, or refuses a value outside of its domain.
func (c ValueCodec[T]) Encode(value T) ([]byte, error) {
	return c.put(value)
}

// Decode reads a value that is all of the bytes. It shares no memory with them.
func (c ValueCodec[T]) Decode(b []byte) (T, error) {
	return c.read(append([]byte(nil), b...))
}

// EncodeJSON returns the arguments as an object, or refuses one outside of its domain.
func (c ValueCodec[T]) EncodeJSON(value T) ([]byte, error) {
	if _, err := c.put(value); err != nil {
		return nil, err
	}
	return c.layout.appendArgs(nil, c.vals(value), false), nil
}

// DecodeJSON reads the arguments from an object, or refuses one outside of its domain.
func (c ValueCodec[T]) DecodeJSON(b []byte) (T, error) {
	var none T
	values, err := c.layout.argsOf(b)
	if err != nil {
		return none, fmt.Errorf("%s: %w", c.name, err)
	}
	value := c.from(val{l: values})
	if _, err := c.put(value); err != nil {
		return none, err
	}
	return value, nil
}

// Stringify shows the arguments.
func (c ValueCodec[T]) Stringify(value T) string {
	return string(c.layout.appendArgs(nil, c.vals(value), false))
}

// ValueType is the path of the family, and what of it the value is.
func (c ValueCodec[T]) ValueType() string {
	return c.name
}
