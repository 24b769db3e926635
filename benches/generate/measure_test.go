package bench

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// What one would write by hand for the same layouts, with the same checks: a struct for each key, and errors that say what is
// wrong.

type handTickKey struct {
	pool uint64
	tick int64
}

type handOutpointKey struct {
	txid [32]byte
	vout uint32
}

type handEntityKey struct {
	digest [8]byte
	key    [32]byte
}

type handPositionKey struct {
	owner          [20]byte
	pool, position uint64
}

func (k handTickKey) appendTo(dst []byte) []byte {
	dst = append(dst, 0x01)
	dst = binary.BigEndian.AppendUint64(dst, k.pool)
	sign := byte(6)
	if k.tick < 0 {
		sign = 5
	}
	dst = append(dst, sign)
	return binary.BigEndian.AppendUint64(dst, uint64(k.tick))
}

func handReadTick(key []byte) (k handTickKey, err error) {
	if len(key) != 18 {
		return k, fmt.Errorf("a tick has 18 bytes, not %d", len(key))
	}
	if key[0] != 0x01 {
		return k, fmt.Errorf("byte 0 of a tick is 01, not %02x", key[0])
	}
	k.pool = binary.BigEndian.Uint64(key[1:9])
	k.tick = int64(binary.BigEndian.Uint64(key[10:18]))
	if k.tick < 0 && key[9] != 5 || k.tick >= 0 && key[9] != 6 {
		return k, fmt.Errorf("byte 9 is not the sign of the tick: %02x", key[9])
	}
	return k, nil
}

func (k handOutpointKey) appendTo(dst []byte) []byte {
	dst = append(dst, 0x02)
	dst = append(dst, k.txid[:]...)
	return binary.BigEndian.AppendUint32(dst, k.vout)
}

func handReadOutpoint(key []byte) (k handOutpointKey, err error) {
	if len(key) != 37 {
		return k, fmt.Errorf("an outpoint has 37 bytes, not %d", len(key))
	}
	if key[0] != 0x02 {
		return k, fmt.Errorf("byte 0 of an outpoint is 02, not %02x", key[0])
	}
	copy(k.txid[:], key[1:33])
	k.vout = binary.BigEndian.Uint32(key[33:])
	return k, nil
}

func (k handEntityKey) appendTo(dst []byte) []byte {
	dst = append(dst, k.digest[:]...)
	return append(dst, k.key[:]...)
}

func handReadEntity(key []byte) (k handEntityKey, err error) {
	if len(key) != 40 {
		return k, fmt.Errorf("an entity has 40 bytes, not %d", len(key))
	}
	copy(k.digest[:], key[:8])
	copy(k.key[:], key[8:])
	return k, nil
}

func (k handPositionKey) appendTo(dst []byte) []byte {
	dst = append(dst, 0x12, '|')
	var text [40]byte
	hex.Encode(text[:], k.owner[:])
	dst = append(dst, text[:]...)
	dst = append(dst, '|')
	dst = strconv.AppendUint(dst, k.pool, 10)
	dst = append(dst, '|')
	return strconv.AppendUint(dst, k.position, 10)
}

func handNumber(text []byte) (number uint64, rest []byte, err error) {
	at := 0
	for at < len(text) && '0' <= text[at] && text[at] <= '9' {
		at++
	}
	if at == 0 || at > 20 || at > 1 && text[0] == '0' {
		return 0, nil, fmt.Errorf("not a number: %q", text)
	}
	for _, c := range text[:at] {
		digit := uint64(c - '0')
		if number > (1<<64-1-digit)/10 {
			return 0, nil, fmt.Errorf("more than 64 bits: %q", text)
		}
		number = number*10 + digit
	}
	return number, text[at:], nil
}

func handReadPosition(key []byte) (k handPositionKey, err error) {
	if len(key) < 46 || key[0] != 0x12 || key[1] != '|' || key[42] != '|' {
		return k, fmt.Errorf("not a position: %x", key)
	}
	for at, c := range key[2:42] {
		if 'A' <= c && c <= 'F' {
			return k, fmt.Errorf("byte %d is a capital", at+2)
		}
	}
	if _, err = hex.Decode(k.owner[:], key[2:42]); err != nil {
		return k, err
	}
	pool, rest, err := handNumber(key[43:])
	if err != nil {
		return k, err
	}
	if len(rest) == 0 || rest[0] != '|' {
		return k, fmt.Errorf("nothing ends the pool of a position: %x", key)
	}
	position, rest, err := handNumber(rest[1:])
	if err != nil {
		return k, err
	}
	if len(rest) != 0 {
		return k, fmt.Errorf("%d bytes are left", len(rest))
	}
	k.pool, k.position = pool, position
	return k, nil
}

// What the systems themselves do.

func sprintfPool(pool uint64) []byte {
	return []byte(fmt.Sprintf("%s%d", []byte{0x03}, pool))
}

func sprintfPosition(owner []byte, pool, position uint64) []byte {
	return []byte(fmt.Sprintf("%s%s%x%s%d%s%d", []byte{0x12}, "|", owner, "|", pool, "|", position))
}

// sink keeps what is made from being left out.
var sink uint64

// A side makes n keys, or reads n.
type side func(n int)

func nanoseconds(f side, n int) float64 {
	begun := time.Now()
	f(n)
	return float64(time.Since(begun).Nanoseconds()) / float64(n)
}

// Both sides in turns, and the best of each: what else runs on the machine makes single runs slower, and none faster.
func best(ours, theirs side) (a, b float64) {
	rounds, n := 60, 200_000
	if os.Getenv("KEYPLAN_BENCH_QUICK") != "" {
		rounds, n = 15, 50_000
	}
	a, b = 1e9, 1e9
	for round := 0; round < rounds; round++ {
		if ns := nanoseconds(ours, n); ns < a {
			a = ns
		}
		if ns := nanoseconds(theirs, n); ns < b {
			b = ns
		}
	}
	return a, b
}

func said(name string, value, goal float64, bound, comparedWith string) {
	fmt.Printf("{\"name\":%q,\"value\":%f,\"goal\":%f,\"bound\":%q,\"compared_with\":%q}\n", name, value, goal, bound, comparedWith)
}

func atMost(name string, ours, hand side) {
	a, b := best(ours, hand)
	said(name+" ÷ by hand", a/b, 1.2, "at most", fmt.Sprintf("Go by hand with the same checks: %.1f ns against %.1f ns", a, b))
}

func atLeast(name string, goal float64, ours, theirs side) {
	a, b := best(ours, theirs)
	said(name+", `fmt.Sprintf` ÷ ours", b/a, goal, "at least", fmt.Sprintf("a builder in the manner of the chain's code: %.1f ns against %.1f ns with a reused buffer", b, a))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func TestMeasure(t *testing.T) {
	buffer := make([]byte, 0, 128)
	var txid, entity [32]byte
	var owner [20]byte
	for i := range txid {
		txid[i], entity[i] = byte(7*i), byte(11*i)
	}
	copy(owner[:], txid[3:])
	digest, err := NewEntityNamespaceDigest("accounts")
	check(err)
	number := func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 >> 40 }

	outpoint, position := Outpoint{Txid: txid}, Position{Owner: owner}
	handOutpoint, handPosition := handOutpointKey{txid: txid}, handPositionKey{owner: owner}
	someEntity, handEntity := Entity{Namespace: digest, Key_2: entity}, handEntityKey{digest: [8]byte(digest), key: entity}

	atMost("Go tick, encode", func(n int) {
		for i := 0; i < n; i++ {
			key, err := Tick{PoolID: number(i), Tick: int64(number(i)) - 1<<23}.AppendTo(buffer[:0])
			check(err)
			sink += uint64(key[17])
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			key := handTickKey{number(i), int64(number(i)) - 1<<23}.appendTo(buffer[:0])
			sink += uint64(key[17])
		}
	})
	atMost("Go outpoint, encode", func(n int) {
		for i := 0; i < n; i++ {
			outpoint.Vout = uint32(i)
			key, err := outpoint.AppendTo(buffer[:0])
			check(err)
			sink += uint64(key[36])
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			handOutpoint.vout = uint32(i)
			key := handOutpoint.appendTo(buffer[:0])
			sink += uint64(key[36])
		}
	})
	atMost("Go entity, encode", func(n int) {
		for i := 0; i < n; i++ {
			someEntity.Key_2[31] = byte(i)
			key, err := someEntity.AppendTo(buffer[:0])
			check(err)
			sink += uint64(key[39])
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			handEntity.key[31] = byte(i)
			key := handEntity.appendTo(buffer[:0])
			sink += uint64(key[39])
		}
	})
	atMost("Go position, encode", func(n int) {
		for i := 0; i < n; i++ {
			position.PoolID, position.PositionID = number(i), number(i+1)
			key, err := position.AppendTo(buffer[:0])
			check(err)
			sink += uint64(len(key))
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			handPosition.pool, handPosition.position = number(i), number(i+1)
			key := handPosition.appendTo(buffer[:0])
			sink += uint64(len(key))
		}
	})

	const many = 1024
	var ticks, outpoints, entities, positions [many][]byte
	for i := 0; i < many; i++ {
		ticks[i], _ = Tick{PoolID: number(i), Tick: int64(number(i)) - 1<<23}.Bytes()
		outpoint.Vout = uint32(i)
		outpoints[i], _ = outpoint.Bytes()
		entities[i], _ = someEntity.Bytes()
		position.PoolID, position.PositionID = number(i), number(i+1)
		positions[i], _ = position.Bytes()
	}
	atMost("Go tick, decode", func(n int) {
		for i := 0; i < n; i++ {
			key, err := DecodeTick(ticks[i%many])
			check(err)
			sink += key.PoolID
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			key, err := handReadTick(ticks[i%many])
			check(err)
			sink += key.pool
		}
	})
	atMost("Go outpoint, decode", func(n int) {
		for i := 0; i < n; i++ {
			key, err := DecodeOutpoint(outpoints[i%many])
			check(err)
			sink += uint64(key.Vout) + uint64(key.Txid[i&31])
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			key, err := handReadOutpoint(outpoints[i%many])
			check(err)
			sink += uint64(key.vout) + uint64(key.txid[i&31])
		}
	})
	atMost("Go entity, decode", func(n int) {
		for i := 0; i < n; i++ {
			key, err := DecodeEntity(entities[i%many])
			check(err)
			sink += uint64(key.Namespace[i&7]) + uint64(key.Key_2[i&31])
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			key, err := handReadEntity(entities[i%many])
			check(err)
			sink += uint64(key.digest[i&7]) + uint64(key.key[i&31])
		}
	})
	atMost("Go position, decode", func(n int) {
		for i := 0; i < n; i++ {
			key, err := DecodePosition(positions[i%many])
			check(err)
			sink += key.PositionID + uint64(key.Owner[i&15])
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			key, err := handReadPosition(positions[i%many])
			check(err)
			sink += key.position + uint64(key.owner[i&15])
		}
	})

	atLeast("Go prefix and decimal", 12, func(n int) {
		for i := 0; i < n; i++ {
			key, err := Pool{PoolID: number(i)}.AppendTo(buffer[:0])
			check(err)
			sink += uint64(len(key))
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			sink += uint64(len(sprintfPool(number(i))))
		}
	})
	atLeast("Go address in hex", 7, func(n int) {
		for i := 0; i < n; i++ {
			position.PoolID, position.PositionID = number(i), number(i+1)
			key, err := position.AppendTo(buffer[:0])
			check(err)
			sink += uint64(len(key))
		}
	}, func(n int) {
		for i := 0; i < n; i++ {
			sink += uint64(len(sprintfPosition(owner[:], number(i), number(i+1))))
		}
	})

	allocations := 0.0
	for _, encode := range []func(){
		func() { _, _ = Tick{PoolID: 5, Tick: -5}.AppendTo(buffer[:0]) },
		func() { _, _ = outpoint.AppendTo(buffer[:0]) },
		func() { _, _ = someEntity.AppendTo(buffer[:0]) },
		func() { _, _ = position.AppendTo(buffer[:0]) },
		func() { _, _ = Pool{PoolID: 5}.AppendTo(buffer[:0]) },
	} {
		allocations += testing.AllocsPerRun(1000, encode)
	}
	said("Go, allocations on encode", allocations, 0, "at most", "all of the keys above, into a buffer that has room")
}
