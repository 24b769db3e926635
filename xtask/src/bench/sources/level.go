// Writes and walks a goleveldb: level write|iavl|walk DIRECTORY ROWS.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// A tick of a pool, as Osmosis writes it: pool, sign, tick.
func key(number uint64) []byte {
	out := make([]byte, 18)
	out[0] = 1
	binary.BigEndian.PutUint64(out[1:], number/5000)
	out[9] = 6
	binary.BigEndian.PutUint64(out[10:], number%5000)
	return out
}

func value(number uint64) []byte {
	out := make([]byte, 64)
	for at := 0; at < 64; at += 8 {
		binary.BigEndian.PutUint64(out[at:], number)
	}
	return out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func write(directory string, rows uint64, fast bool) {
	database, err := leveldb.OpenFile(directory, nil)
	check(err)
	batch := new(leveldb.Batch)
	put := func(key []byte, value []byte) {
		batch.Put(key, value)
		if batch.Len() >= 10000 {
			check(database.Write(batch, nil))
			batch.Reset()
		}
	}
	if fast {
		// One store at version 1 with its fast index; the root is a leaf, which the index does not need.
		commit := append([]byte{8, 1, 0x12, 44, 0x0a, 4}, "bank"...)
		commit = append(commit, 0x12, 36, 8, 1, 0x12, 32)
		commit = append(commit, make([]byte, 32)...)
		put([]byte("s/1"), commit)
		put([]byte("s/latest"), []byte{8, 1})
		root := append([]byte("s/k:bank/s"), 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1)
		put(root, []byte{0, 2, 1, 'k', 1, 'v'})
		put([]byte("s/k:bank/mstorage_version"), []byte("1.1.0-1"))
	}
	for number := uint64(0); number < rows; number++ {
		if fast {
			put(append([]byte("s/k:bank/f"), key(number)...), append([]byte{2, 64}, value(number)...))
		} else {
			put(key(number), value(number))
		}
	}
	check(database.Write(batch, nil))
	check(database.Close())
}

func walk(directory string) {
	database, err := leveldb.OpenFile(directory, &opt.Options{ReadOnly: true})
	check(err)
	rows, size := 0, 0
	iterator := database.NewIterator(nil, nil)
	for iterator.Next() {
		rows++
		size += len(iterator.Key()) + len(iterator.Value())
	}
	check(iterator.Error())
	fmt.Printf("rows %d bytes %d\n", rows, size)
}

func main() {
	if os.Args[1] == "walk" {
		walk(os.Args[2])
		return
	}
	rows, err := strconv.ParseUint(os.Args[3], 10, 64)
	check(err)
	write(os.Args[2], rows, os.Args[1] == "iavl")
}
