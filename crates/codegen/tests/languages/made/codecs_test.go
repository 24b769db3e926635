package PACKAGE

import (
	"bytes"
	"fmt"
	"testing"
)

// codecOfKeys is the interface KeyCodec[T] of cosmossdk.io/collections/codec.
type codecOfKeys[T any] interface {
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

// codecOfValues is the interface ValueCodec[T] of the same package.
type codecOfValues[T any] interface {
	Encode(value T) ([]byte, error)
	Decode(b []byte) (T, error)
	EncodeJSON(value T) ([]byte, error)
	DecodeJSON(b []byte) (T, error)
	Stringify(value T) string
	ValueType() string
}

// keyLaws are what the collections' own tests ask of a codec, about one key.
func keyLaws[T any](made KeyCodec[T]) (string, func(b []byte) error) {
	var c codecOfKeys[T] = made
	return made.family, func(b []byte) error {
		key, err := made.read(b)
		if err != nil {
			return err
		}
		behind := b[len(made.prefix):]
		same := func(what string, read int, back T, err error) error {
			buffer := make([]byte, c.Size(back))
			if err == nil {
				_, err = c.Encode(buffer, back)
			}
			if err != nil || !bytes.Equal(buffer, behind) {
				return fmt.Errorf("%s: %d bytes are %x: %w", what, read, buffer, err)
			}
			return nil
		}
		buffer := make([]byte, c.Size(key))
		written, err := c.Encode(buffer, key)
		if err != nil || written != len(behind) || written != len(buffer) || !bytes.Equal(buffer, behind) {
			return fmt.Errorf("%d of %d written: %x: %w", written, len(buffer), buffer, err)
		}
		read, back, err := c.Decode(behind)
		if read != written {
			return fmt.Errorf("%d of %d read", read, written)
		}
		if err := same("read", read, back, err); err != nil {
			return err
		}
		inner := make([]byte, c.SizeNonTerminal(key))
		written, err = c.EncodeNonTerminal(inner, key)
		if err != nil || written != len(inner) {
			return fmt.Errorf("%d of %d written before others: %w", written, len(inner), err)
		}
		for _, more := range []string{"", "\x00", "\xff\x00", "123"} {
			read, back, err := c.DecodeNonTerminal(append(inner[:written:written], more...))
			if read != written {
				return fmt.Errorf("%d of %d read before %x: %w", read, written, more, err)
			}
			if err := same("read before others", read, back, err); err != nil {
				return err
			}
		}
		text, err := c.EncodeJSON(key)
		if err != nil || string(text) != c.Stringify(key) {
			return fmt.Errorf("%s is shown as %s: %w", text, c.Stringify(key), err)
		}
		back, err = c.DecodeJSON(text)
		return same("read from "+string(text), len(text), back, err)
	}
}

// valueLaws are the same of a value.
func valueLaws[T any](made ValueCodec[T]) (string, func(b []byte) error) {
	var c codecOfValues[T] = made
	return c.ValueType(), func(b []byte) error {
		value, err := c.Decode(b)
		if err != nil {
			return err
		}
		text, err := c.EncodeJSON(value)
		if err != nil || string(text) != c.Stringify(value) {
			return fmt.Errorf("%s is shown as %s: %w", text, c.Stringify(value), err)
		}
		back, err := c.DecodeJSON(text)
		if err != nil {
			return err
		}
		for _, one := range []T{value, back} {
			if made, err := c.Encode(one); err != nil || !bytes.Equal(made, b) {
				return fmt.Errorf("written as %x: %w", made, err)
			}
		}
		return nil
	}
}

func TestCodecsOfEveryFamily(t *testing.T) {
	laws := map[string]func(b []byte) error{}
	LAWS
	judged := map[string]bool{}
	eachVector(t, "testdata/keyplan.jsonl", func(number int, line vector, b []byte) {
		holds := laws[line.Part]
		if holds == nil || line.Scan != "" {
			return
		}
		judged[line.Part] = true
		if line.Result != "valid" {
			return
		}
		if err := holds(b); err != nil {
			t.Errorf("line %d: %s %s: %v", number, line.Part, line.Args, err)
		}
	})
	if len(judged) != len(laws) {
		t.Errorf("%d of %d codecs have a vector", len(judged), len(laws))
	}
}
