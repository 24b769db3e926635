// Small goleveldb databases, each with options and a history of its own: DIRECTORY COUNT SEED.
//
// Database n is in the folder n, and its rows, as the engine's own iterator gives them, in the file n.rows: key and value in hex digits, a
// row per line. Every second one is closed. The others stay open until the standard input ends, and are then left as a process
// leaves them that is killed.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail(err)
	}
	seed, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err != nil {
		fail(err)
	}
	for n := 0; n < count; n++ {
		random := rand.New(rand.NewSource(seed + int64(n)))
		if err := database(filepath.Join(os.Args[1], strconv.Itoa(n)), n%2 == 0, random); err != nil {
			fail(err)
		}
	}
	fmt.Println("written")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// options are other ones each time that a database is opened: its files are then of several kinds.
func options(random *rand.Rand) *opt.Options {
	pick := func(sizes ...int) int { return sizes[random.Intn(len(sizes))] }
	options := &opt.Options{
		BlockSize:                    pick(32, 256, 4096, 65536),
		BlockRestartInterval:         pick(1, 2, 16, 1000),
		WriteBuffer:                  pick(4<<10, 16<<10, 4<<20),
		CompactionTableSize:          pick(1<<10, 8<<10, 2<<20),
		CompactionTotalSize:          pick(4<<10, 32<<10, 10<<20),
		CompactionL0Trigger:          pick(1, 2, 4),
		Compression:                  opt.Compression(pick(int(opt.NoCompression), int(opt.SnappyCompression))),
		DisableSeeksCompaction:       random.Intn(2) == 0,
		DisableLargeBatchTransaction: random.Intn(2) == 0,
	}
	if random.Intn(2) == 0 {
		options.Filter = filter.NewBloomFilter(pick(1, 10))
	}
	return options
}

func database(path string, closed bool, random *rand.Rand) error {
	db, err := leveldb.OpenFile(path, options(random))
	if err != nil {
		return err
	}
	for step := 3 + random.Intn(20); step > 0; step-- {
		switch random.Intn(8) {
		case 0:
			err = db.CompactRange(util.Range{Start: key(random), Limit: nil})
		case 1:
			if err = db.Close(); err == nil {
				db, err = leveldb.OpenFile(path, options(random))
			}
		case 2:
			// Its rows go to tables, and not through the log.
			var transaction *leveldb.Transaction
			if transaction, err = db.OpenTransaction(); err == nil {
				if err = transaction.Write(batch(random), nil); err == nil {
					err = transaction.Commit()
				}
			}
		default:
			err = db.Write(batch(random), &opt.WriteOptions{Sync: random.Intn(4) == 0})
		}
		if err != nil {
			return err
		}
	}
	if err := rows(db, path+".rows"); err != nil {
		return err
	}
	if closed {
		return db.Close()
	}
	return nil
}

func key(random *rand.Rand) []byte {
	number := random.Intn(300)
	switch random.Intn(4) {
	case 0:
		return []byte(fmt.Sprintf("key/%06d", number))
	case 1:
		// Long ones that differ at their end, and the empty one.
		return make([]byte, number)
	case 2:
		return []byte{0xff, 0xff, byte(number), byte(number >> 8)}
	default:
		return []byte{byte(number)}
	}
}

func batch(random *rand.Rand) *leveldb.Batch {
	batch := new(leveldb.Batch)
	for row := 1 + random.Intn(200); row > 0; row-- {
		if random.Intn(3) == 0 {
			batch.Delete(key(random))
			continue
		}
		value := make([]byte, random.Intn(60))
		if random.Intn(500) == 0 {
			// Over several blocks of a log.
			value = make([]byte, 40000+random.Intn(40000))
		}
		random.Read(value[:len(value)/2])
		batch.Put(key(random), value)
	}
	return batch
}

func rows(db *leveldb.DB, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	iterator := db.NewIterator(nil, nil)
	for iterator.Next() {
		fmt.Fprintf(out, "%x %x\n", iterator.Key(), iterator.Value())
	}
	iterator.Release()
	if err := iterator.Error(); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}
