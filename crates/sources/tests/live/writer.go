// A writer that never rests: it fills a goleveldb database until its standard input ends, or, with the word `tables`, until
// the database has many tables.
//
// Batch n puts the rows a/n and b/n with the same value, deletes those of the batch that lies a window before it, and sets
// the rows `first` and `last` to n. Whoever reads a state of the database between two batches finds them in agreement. Now
// and then it says on its standard output which batch it has written.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

const window = 1500

func main() {
	run := write
	if len(os.Args) > 2 && os.Args[2] == "tables" {
		run = tables
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(path string) error {
	// Small buffers and tables, so that logs are replaced and tables compacted all the time.
	options := &opt.Options{WriteBuffer: 64 << 10, CompactionTableSize: 16 << 10, CompactionTotalSize: 64 << 10}
	db, err := leveldb.OpenFile(path, options)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(done)
	}()
	random := rand.New(rand.NewSource(7))
	for n := uint64(1); ; n++ {
		select {
		case <-done:
			return db.Close()
		default:
		}
		if err := db.Write(batch(n, random), nil); err != nil {
			return err
		}
		if n%window == 0 {
			fmt.Println(n)
		}
	}
}

// tables leaves a database of several hundred tables.
func tables(path string) error {
	options := &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 512, BlockSize: 512}
	db, err := leveldb.OpenFile(path, options)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewSource(8))
	for n := uint64(1); n <= 2*window; n++ {
		if err := db.Write(batch(n, random), nil); err != nil {
			return err
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		return err
	}
	return db.Close()
}

func batch(n uint64, random *rand.Rand) *leveldb.Batch {
	value := make([]byte, 20+random.Intn(100))
	random.Read(value)
	batch := new(leveldb.Batch)
	batch.Put([]byte("first"), number(n))
	for _, side := range []string{"a/", "b/"} {
		batch.Put(append([]byte(side), number(n)...), value)
		if n > window {
			batch.Delete(append([]byte(side), number(n-window)...))
		}
	}
	batch.Put([]byte("last"), number(n))
	return batch
}

func number(n uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, n)
}
