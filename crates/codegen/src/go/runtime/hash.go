package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

func sumSHA256(b []byte) [32]byte {
	return sha256.Sum256(b)
}

func crc16Of(b []byte) uint64 {
	var crc uint16
	for _, c := range b {
		crc ^= uint16(c) << 8
		for bit := 0; bit < 8; bit++ {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return uint64(crc)
}

func crc32Of(b []byte) uint64 {
	return uint64(crc32.ChecksumIEEE(b))
}

const (
	xxPrime1 uint64 = 0x9e3779b185ebca87
	xxPrime2 uint64 = 0xc2b2ae3d27d4eb4f
	xxPrime3 uint64 = 0x165667b19e3779f9
	xxPrime4 uint64 = 0x85ebca77c2b2ae63
	xxPrime5 uint64 = 0x27d4eb2f165667c5
)

func xxRound(lane, word uint64) uint64 {
	return bits.RotateLeft64(lane+word*xxPrime2, 31) * xxPrime1
}

func xx64(b []byte, seed uint64) uint64 {
	size := uint64(len(b))
	h := seed + xxPrime5
	if len(b) >= 32 {
		v1, v2, v3, v4 := seed+xxPrime1, seed+xxPrime2, seed, seed-xxPrime1
		v1 += xxPrime2
		for len(b) >= 32 {
			v1 = xxRound(v1, binary.LittleEndian.Uint64(b))
			v2 = xxRound(v2, binary.LittleEndian.Uint64(b[8:]))
			v3 = xxRound(v3, binary.LittleEndian.Uint64(b[16:]))
			v4 = xxRound(v4, binary.LittleEndian.Uint64(b[24:]))
			b = b[32:]
		}
		h = bits.RotateLeft64(v1, 1) + bits.RotateLeft64(v2, 7) + bits.RotateLeft64(v3, 12) + bits.RotateLeft64(v4, 18)
		for _, v := range [...]uint64{v1, v2, v3, v4} {
			h = (h^xxRound(0, v))*xxPrime1 + xxPrime4
		}
	}
	h += size
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^xxRound(0, binary.LittleEndian.Uint64(b)), 27)*xxPrime1 + xxPrime4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*xxPrime1, 23)*xxPrime2 + xxPrime3
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*xxPrime5, 11) * xxPrime1
	}
	h = (h ^ h>>33) * xxPrime2
	h = (h ^ h>>29) * xxPrime3
	return h ^ h>>32
}

func twox64Of(b []byte) uint64 {
	return xx64(b, 0)
}

func sumTwox64(b []byte) (digest [32]byte) {
	binary.LittleEndian.PutUint64(digest[:], xx64(b, 0))
	return digest
}

func sumTwox128(b []byte) (digest [32]byte) {
	binary.LittleEndian.PutUint64(digest[:], xx64(b, 0))
	binary.LittleEndian.PutUint64(digest[8:], xx64(b, 1))
	return digest
}

const xx3Secret = "" +
	"\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe\x7c\x01\x81\x2c\xf7\x21\xad\x1c\xde\xd4\x6d\xe9\x83\x90\x97\xdb\x72\x40\xa4\xa4\xb7\xb3\x67\x1f" +
	"\xcb\x79\xe6\x4e\xcc\xc0\xe5\x78\x82\x5a\xd0\x7d\xcc\xff\x72\x21\xb8\x08\x46\x74\xf7\x43\x24\x8e\xe0\x35\x90\xe6\x81\x3a\x26\x4c" +
	"\x3c\x28\x52\xbb\x91\xc3\x00\xcb\x88\xd0\x65\x8b\x1b\x53\x2e\xa3\x71\x64\x48\x97\xa2\x0d\xf9\x4e\x38\x19\xef\x46\xa9\xde\xac\xd8" +
	"\xa8\xfa\x76\x3f\xe3\x9c\x34\x3f\xf9\xdc\xbb\xc7\xc7\x0b\x4f\x1d\x8a\x51\xe0\x4b\xcd\xb4\x59\x31\xc8\x9f\x7e\xc9\xd9\x78\x73\x64" +
	"\xea\xc5\xac\x83\x34\xd3\xeb\xc3\xc5\x81\xa0\xff\xfa\x13\x63\xeb\x17\x0d\xdd\x51\xb7\xf0\xda\x49\xd3\x16\x55\x26\x29\xd4\x68\x9e" +
	"\x2b\x16\xbe\x58\x7d\x47\xa1\xfc\x8f\xf8\xb8\xd1\x7a\xd0\x31\xce\x45\xcb\x3a\x8f\x95\x16\x04\x28\xaf\xd7\xfb\xca\xbb\x4b\x40\x7e"

func xx3Word(at int) uint64 {
	var room [8]byte
	copy(room[:], xx3Secret[at:at+8])
	return binary.LittleEndian.Uint64(room[:])
}

func xx3Fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func xx3Avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * 0x165667919e3779f9
	return h ^ h>>32
}

func xx3Mix(b []byte, at int) uint64 {
	return xx3Fold(binary.LittleEndian.Uint64(b)^xx3Word(at), binary.LittleEndian.Uint64(b[8:])^xx3Word(at+8))
}

func xx3Short(b []byte) uint64 {
	size := len(b)
	switch {
	case size > 8:
		lo := binary.LittleEndian.Uint64(b) ^ xx3Word(24) ^ xx3Word(32)
		hi := binary.LittleEndian.Uint64(b[size-8:]) ^ xx3Word(40) ^ xx3Word(48)
		return xx3Avalanche(uint64(size) + bits.ReverseBytes64(lo) + hi + xx3Fold(lo, hi))
	case size >= 4:
		first, last := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[size-4:])
		h := (uint64(last) + uint64(first)<<32) ^ xx3Word(8) ^ xx3Word(16)
		h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
		h *= 0x9fb21c651e98df25
		h ^= h>>35 + uint64(size)
		h *= 0x9fb21c651e98df25
		return h ^ h>>28
	case size > 0:
		word := uint32(b[0])<<16 | uint32(b[size>>1])<<24 | uint32(b[size-1]) | uint32(size)<<8
		flip := uint64(uint32(xx3Word(0)) ^ uint32(xx3Word(4)))
		h := uint64(word) ^ flip
		h = (h ^ h>>33) * xxPrime2
		h = (h ^ h>>29) * xxPrime3
		return h ^ h>>32
	default:
		h := xx3Word(56) ^ xx3Word(64)
		h = (h ^ h>>33) * xxPrime2
		h = (h ^ h>>29) * xxPrime3
		return h ^ h>>32
	}
}

func xx3Accumulate(acc *[8]uint64, b []byte, at int) {
	for i := range acc {
		word := binary.LittleEndian.Uint64(b[8*i:])
		keyed := word ^ xx3Word(at+8*i)
		acc[i^1] += word
		acc[i] += (keyed & 0xffffffff) * (keyed >> 32)
	}
}

func xx3Long(b []byte) uint64 {
	acc := [8]uint64{0xc2b2ae3d, xxPrime1, xxPrime2, xxPrime3, xxPrime4, 0x85ebca77, xxPrime5, 0x9e3779b1}
	const stripes = (192 - 64) / 8
	block, blocks := 64*stripes, (len(b)-1)/(64*stripes)
	for n := 0; n < blocks; n++ {
		for i := 0; i < stripes; i++ {
			xx3Accumulate(&acc, b[n*block+64*i:], 8*i)
		}
		for i := range acc {
			acc[i] = (acc[i] ^ acc[i]>>47 ^ xx3Word(192-64+8*i)) * 0x9e3779b1
		}
	}
	rest := (len(b) - 1 - block*blocks) / 64
	for i := 0; i < rest; i++ {
		xx3Accumulate(&acc, b[blocks*block+64*i:], 8*i)
	}
	xx3Accumulate(&acc, b[len(b)-64:], 192-64-7)
	h := uint64(len(b)) * xxPrime1
	for i := 0; i < 8; i += 2 {
		h += xx3Fold(acc[i]^xx3Word(11+8*i), acc[i+1]^xx3Word(19+8*i))
	}
	return xx3Avalanche(h)
}

func xx3Of(b []byte) uint64 {
	size := len(b)
	switch {
	case size <= 16:
		return xx3Short(b)
	case size > 240:
		return xx3Long(b)
	}
	h := uint64(size) * xxPrime1
	if size <= 128 {
		for i := (size - 1) / 32; i >= 0; i-- {
			h += xx3Mix(b[16*i:], 32*i) + xx3Mix(b[size-16*(i+1):], 32*i+16)
		}
		return xx3Avalanche(h)
	}
	for i := 0; i < 8; i++ {
		h += xx3Mix(b[16*i:], 16*i)
	}
	h = xx3Avalanche(h)
	for i := 8; i < size/16; i++ {
		h += xx3Mix(b[16*i:], 16*(i-8)+3)
	}
	return xx3Avalanche(h + xx3Mix(b[size-16:], 136-17))
}

func sumXXH3(b []byte) (digest [32]byte) {
	binary.BigEndian.PutUint64(digest[:], xx3Of(b))
	return digest
}

var blakeIV = [8]uint64{
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

var blakeSigma = [10][16]uint8{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

func blakeBlock(h *[8]uint64, block []byte, total uint64, last bool) {
	var m, v [16]uint64
	for i := range m {
		m[i] = binary.LittleEndian.Uint64(block[8*i:])
	}
	copy(v[:8], h[:])
	copy(v[8:], blakeIV[:])
	v[12] ^= total
	if last {
		v[14] = ^v[14]
	}
	mix := func(a, b, c, d int, x, y uint64) {
		v[a] += v[b] + x
		v[d] = bits.RotateLeft64(v[d]^v[a], -32)
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b]^v[c], -24)
		v[a] += v[b] + y
		v[d] = bits.RotateLeft64(v[d]^v[a], -16)
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b]^v[c], -63)
	}
	for round := 0; round < 12; round++ {
		s := &blakeSigma[round%10]
		for i := 0; i < 4; i++ {
			mix(i, 4+i, 8+i, 12+i, m[s[2*i]], m[s[2*i+1]])
		}
		for i := 0; i < 4; i++ {
			mix(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[8+i]
	}
}

func blake2b(b []byte, size uint64) (digest [32]byte) {
	h := blakeIV
	h[0] ^= 0x01010000 ^ size
	total := uint64(0)
	for len(b) > 128 {
		total += 128
		blakeBlock(&h, b, total, false)
		b = b[128:]
	}
	var block [128]byte
	copy(block[:], b)
	blakeBlock(&h, block[:], total+uint64(len(b)), true)
	for i := 0; i < 4; i++ {
		binary.LittleEndian.PutUint64(digest[8*i:], h[i])
	}
	for i := int(size); i < 32; i++ {
		digest[i] = 0
	}
	return digest
}

func sumBlake2b128(b []byte) [32]byte {
	return blake2b(b, 16)
}

func sumBlake2b256(b []byte) [32]byte {
	return blake2b(b, 32)
}

func sumBlake2b224(b []byte) [32]byte {
	return blake2b(b, 28)
}

// keccakRounds are the constants of the rounds.
var keccakRounds = [24]uint64{
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
	0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
	0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
	0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
	0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
}

func keccakPermute(a *[25]uint64) {
	for _, round := range keccakRounds {
		var c [5]uint64
		for x := range c {
			c[x] = a[x] ^ a[x+5] ^ a[x+10] ^ a[x+15] ^ a[x+20]
		}
		for x := range c {
			d := c[(x+4)%5] ^ bits.RotateLeft64(c[(x+1)%5], 1)
			for y := 0; y < 25; y += 5 {
				a[x+y] ^= d
			}
		}
		var b [25]uint64
		b[0] = a[0]
		for x, y, t := 1, 0, 0; t < 24; t++ {
			to := y + 5*((2*x+3*y)%5)
			b[to] = bits.RotateLeft64(a[x+5*y], (t+1)*(t+2)/2%64)
			x, y = y, (2*x+3*y)%5
		}
		for y := 0; y < 25; y += 5 {
			for x := 0; x < 5; x++ {
				a[x+y] = b[x+y] ^ ^b[(x+1)%5+y]&b[(x+2)%5+y]
			}
		}
		a[0] ^= round
	}
}

func keccakAbsorb(a *[25]uint64, block []byte) {
	for i := 0; i < 17; i++ {
		a[i] ^= binary.LittleEndian.Uint64(block[8*i:])
	}
	keccakPermute(a)
}

func sumKeccak256(b []byte) (digest [32]byte) {
	var a [25]uint64
	for len(b) >= 136 {
		keccakAbsorb(&a, b)
		b = b[136:]
	}
	var block [136]byte
	copy(block[:], b)
	block[len(b)] ^= 0x01
	block[135] ^= 0x80
	keccakAbsorb(&a, block[:])
	for i := 0; i < 4; i++ {
		binary.LittleEndian.PutUint64(digest[8*i:], a[i])
	}
	return digest
}

// ripemdWords are which word of the block each step takes, a hex digit each: the left line, then the right one.
var ripemdWords = [2]string{
	"0123456789abcdef74d1a6f3c0952eb83ae49f812706db5c" +
		"19ba08c4d37fe56240597c2ae138b6fd",
	"5e7092b4d6f81a3c6b370d5aef8c4912f5137e69b8c2a04d" +
		"86413bf05c2d97aecfa4158762de039b",
}

// ripemdTurns are by how many bits each step turns.
var ripemdTurns = [2]string{
	"befc5879bdef6798768db97f7cf9b7dcbd67e9dfe8d65c75" +
		"bcefef989e56865c9f5b68dc5cdeb856",
	"899bdff5778beec69df7c89b77c76fdb97fb866ecd5edd75" +
		"f58bee6e69c9c5f885c9c5e68d65fdbb",
}

var ripemdSums = [2][5]uint32{
	{0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e},
	{0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0},
}

func ripemdMix(round int, x, y, z uint32) uint32 {
	switch round {
	case 0:
		return x ^ y ^ z
	case 1:
		return x&y | ^x&z
	case 2:
		return (x | ^y) ^ z
	case 3:
		return x&z | y&^z
	default:
		return x ^ (y | ^z)
	}
}

func ripemdBlock(h *[5]uint32, block []byte) {
	var lines [2][5]uint32
	for side := range lines {
		v := *h
		for step := 0; step < 80; step++ {
			round := step / 16
			sum := v[0] + ripemdSums[side][round]
			if side == 1 {
				round = 4 - round
			}
			word := binary.LittleEndian.Uint32(block[4*int(hexValue(ripemdWords[side][step])):])
			sum += ripemdMix(round, v[1], v[2], v[3]) + word
			sum = bits.RotateLeft32(sum, int(hexValue(ripemdTurns[side][step]))) + v[4]
			v = [5]uint32{v[4], sum, v[1], bits.RotateLeft32(v[2], 10), v[3]}
		}
		lines[side] = v
	}
	l, r := lines[0], lines[1]
	*h = [5]uint32{h[1] + l[2] + r[3], h[2] + l[3] + r[4], h[3] + l[4] + r[0], h[4] + l[0] + r[1], h[0] + l[1] + r[2]}
}

// sumHash160 is RIPEMD-160 of SHA-256, whose 32 bytes are one block.
func sumHash160(b []byte) (digest [32]byte) {
	inner := sha256.Sum256(b)
	var block [64]byte
	copy(block[:], inner[:])
	block[32] = 0x80
	binary.LittleEndian.PutUint64(block[56:], 256)
	h := [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	ripemdBlock(&h, block[:])
	for i, word := range h {
		binary.LittleEndian.PutUint32(digest[4*i:], word)
	}
	return digest
}

func sumSiphash24(b []byte) (digest [32]byte) {
	v0, v1, v2, v3 := uint64(0x736f6d6570736575), uint64(0x646f72616e646f6d), uint64(0x6c7967656e657261), uint64(0x7465646279746573)
	rounds := func(count int) {
		for ; count > 0; count-- {
			v0 += v1
			v1 = bits.RotateLeft64(v1, 13) ^ v0
			v0 = bits.RotateLeft64(v0, 32)
			v2 += v3
			v3 = bits.RotateLeft64(v3, 16) ^ v2
			v0 += v3
			v3 = bits.RotateLeft64(v3, 21) ^ v0
			v2 += v1
			v1 = bits.RotateLeft64(v1, 17) ^ v2
			v2 = bits.RotateLeft64(v2, 32)
		}
	}
	word := uint64(len(b)) << 56
	for ; len(b) >= 8; b = b[8:] {
		m := binary.LittleEndian.Uint64(b)
		v3 ^= m
		rounds(2)
		v0 ^= m
	}
	for i, c := range b {
		word |= uint64(c) << uint(8*i)
	}
	v3 ^= word
	rounds(2)
	v0 ^= word
	v2 ^= 0xff
	rounds(4)
	binary.LittleEndian.PutUint64(digest[:], v0^v1^v2^v3)
	return digest
}

const bech32Characters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// bech32Most is the longest text whose checksum is worth something.
const bech32Most = 1023

func bech32Value(c byte) int {
	for i := 0; i < len(bech32Characters); i++ {
		if bech32Characters[i] == c {
			return i
		}
	}
	return -1
}

func bech32Step(sum uint32, v byte) uint32 {
	top := sum >> 25
	sum = sum&0x1ffffff<<5 ^ uint32(v)
	for i, g := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>uint(i)&1 != 0 {
			sum ^= g
		}
	}
	return sum
}

func bech32Head(hrp string) uint32 {
	sum := uint32(1)
	for i := 0; i < len(hrp); i++ {
		sum = bech32Step(sum, hrp[i]>>5)
	}
	sum = bech32Step(sum, 0)
	for i := 0; i < len(hrp); i++ {
		sum = bech32Step(sum, hrp[i]&31)
	}
	return sum
}

func appendBech32(dst, b []byte, hrp string) ([]byte, fault) {
	if len(hrp)+1+(8*len(b)+4)/5+6 > bech32Most {
		return dst, fault{code: xBech32}
	}
	dst = append(append(dst, hrp...), '1')
	sum, word, count := bech32Head(hrp), uint32(0), 0
	put := func(v byte) {
		sum = bech32Step(sum, v)
		dst = append(dst, bech32Characters[v])
	}
	for _, c := range b {
		word, count = word<<8|uint32(c), count+8
		for ; count >= 5; count -= 5 {
			put(byte(word >> uint(count-5) & 31))
		}
	}
	if count > 0 {
		put(byte(word << uint(5-count) & 31))
	}
	for i := 0; i < 6; i++ {
		sum = bech32Step(sum, 0)
	}
	sum ^= 1
	for i := 5; i >= 0; i-- {
		dst = append(dst, bech32Characters[sum>>uint(5*i)&31])
	}
	return dst, fault{}
}

func decodeBech32(n *node, b []byte) (val, fault) {
	hrp := n.text
	for i := 0; i < len(hrp); i++ {
		if i >= len(b) {
			return val{}, short(len(b), len(hrp))
		}
		if b[i] != hrp[i] {
			return val{}, fault{at: i, code: fLiteral, a: int(hrp[i]), b: int(b[i])}
		}
	}
	head := len(hrp) + 1
	if len(b) < head {
		return val{}, short(len(b), head)
	}
	if b[head-1] != '1' {
		return val{}, fault{at: head - 1, code: fLiteral, a: '1', b: int(b[head-1])}
	}
	sum := bech32Head(hrp)
	for i := head; i < len(b); i++ {
		v := bech32Value(b[i])
		if v < 0 {
			return val{}, fault{at: i, code: fByte, a: int(b[i]), b: wantBech32}
		}
		sum = bech32Step(sum, byte(v))
	}
	if len(b) < head+6 {
		return val{}, short(len(b), head+6)
	}
	if len(b) > bech32Most {
		return val{}, trailing(len(b), bech32Most)
	}
	end := len(b) - 6
	if sum != 1 {
		return val{}, fault{at: end, code: fMismatch}
	}
	spare, word, count := (end-head)*5%8, uint32(0), 0
	out := make([]byte, 0, (end-head)*5/8)
	for i := head; i < end; i++ {
		word, count = word<<5|uint32(bech32Value(b[i])), count+5
		if count >= 8 {
			count -= 8
			out = append(out, byte(word>>uint(count)))
		}
	}
	if spare >= 5 || word&(1<<uint(spare)-1) != 0 {
		return val{}, fault{at: end - 1, code: fBech32}
	}
	if !n.lens.admits(len(out)) {
		return val{}, fault{at: end, code: fLength, a: len(out)}
	}
	return val{b: out}, fault{}
}

func longestBech32(n *node, b []byte) int {
	i, head := 0, len(n.text)+1
	for i < head && i < len(b) && (i < head-1 && b[i] == n.text[i] || i == head-1 && b[i] == '1') {
		i++
	}
	if i < head {
		return i
	}
	for i < len(b) && bech32Value(b[i]) >= 0 {
		i++
	}
	most := bech32Most
	if n.lens.max >= 0 && n.lens.max < bech32Most && head+(8*n.lens.max+4)/5+6 < most {
		most = head + (8*n.lens.max+4)/5 + 6
	}
	if i > most {
		return most
	}
	return i
}

const base58Characters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Most is how many bytes are written as base58 text, and base58Text how many characters that and a checksum take.
const (
	base58Most = 128
	base58Text = 181
)

func base58Value(c byte) int {
	for i := 0; i < len(base58Characters); i++ {
		if base58Characters[i] == c {
			return i
		}
	}
	return -1
}

func base58Check(b []byte) [32]byte {
	first := sha256.Sum256(b)
	return sha256.Sum256(first[:])
}

// rebased multiplies a number by a factor and adds to it, in another base, least significant digit first.
func rebased(digits *[192]byte, size, times, carry, base int) int {
	for i := 0; i < size; i++ {
		carry += int(digits[i]) * times
		digits[i] = byte(carry % base)
		carry /= base
	}
	for ; carry > 0; carry /= base {
		digits[size] = byte(carry % base)
		size++
	}
	return size
}

func appendBase58(dst, b []byte, check bool) ([]byte, fault) {
	if len(b) > base58Most {
		return dst, fault{code: fLength, a: len(b)}
	}
	var room [base58Most + 4]byte
	all := append(room[:0], b...)
	if check {
		sum := base58Check(b)
		all = append(all, sum[:4]...)
	}
	var digits [192]byte
	size, zeros := 0, true
	for _, c := range all {
		if zeros = zeros && c == 0; zeros {
			dst = append(dst, '1')
		}
		size = rebased(&digits, size, 256, int(c), 58)
	}
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, base58Characters[digits[i]])
	}
	return dst, fault{}
}

func decodeBase58(n *node, b []byte) (val, fault) {
	for i, c := range b {
		if base58Value(c) < 0 {
			return val{}, fault{at: i, code: fByte, a: int(c), b: wantBase58}
		}
	}
	if len(b) > base58Text {
		return val{}, trailing(len(b), base58Text)
	}
	var digits [192]byte
	size, ones, leading := 0, 0, true
	for _, c := range b {
		if leading = leading && c == '1'; leading {
			ones++
		}
		size = rebased(&digits, size, 58, base58Value(c), 256)
	}
	out := make([]byte, ones+size)
	for i := 0; i < size; i++ {
		out[ones+i] = digits[size-1-i]
	}
	if n.counted {
		if len(out) < 4 {
			return val{}, short(len(b), len(b)+1)
		}
		end := len(out) - 4
		if sum := base58Check(out[:end]); string(sum[:4]) != string(out[end:]) {
			return val{}, fault{code: fMismatch}
		}
		out = out[:end]
	}
	if len(out) > base58Most || !n.lens.admits(len(out)) {
		return val{}, fault{code: fLength, a: len(out)}
	}
	return val{b: out}, fault{}
}

func longestBase58(n *node, b []byte) int {
	most := n.lens.cap(base58Most)
	if n.counted {
		most += 4
	}
	if most = most*1366/1000 + 1; most < len(b) {
		b = b[:most]
	}
	for i, c := range b {
		if base58Value(c) < 0 {
			return i
		}
	}
	return len(b)
}
