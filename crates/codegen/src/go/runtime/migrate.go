package runtime

// migrationStep is how many rows are read before the first of them is written: stores forbid writes to a range that is
// iterated.
const migrationStep = 10000

// MigrationStore is one store of a chain as a migration sees it. Iterator is a method of the store, such as
// store.Iterator.
type MigrationStore[I MigrationIter] struct {
	Iterator func(start, end []byte) I
	Set      func(key, value []byte)
	Delete   func(key []byte)
}

// MigrationIter is what the iterators of all versions of the Cosmos SDK have in common.
type MigrationIter interface {
	Valid() bool
	Next()
	Key() []byte
	Value() []byte
	Error() error
	Close() error
}

// Migrated says what became of the rows of one family.
type Migrated struct {
	// Family is the family of the older plan.
	Family string
	// Moved counts rows that were written anew, Dropped those that were deleted.
	Moved, Dropped int
	// Others counts rows behind the same prefix that are of other families.
	Others int
}

// migrationRow makes a new row of an old one. A row without a new key is deleted.
type migrationRow func(key, value []byte) (newKey, newValue []byte, err error)

type migrationMove struct {
	family, from, to, prefix string
	is                       func(key []byte) bool
	row                      migrationRow
}

func migrateRows[I MigrationIter](from, to MigrationStore[I], move migrationMove) (done Migrated, err error) {
	done.Family = move.family
	r := prefixRange([]byte(move.prefix))
	for {
		var old, keys, values [][]byte
		read := 0
		it := from.Iterator(r.Start, r.End)
		for ; err == nil && it.Valid() && read < migrationStep; it.Next() {
			read++
			key := append([]byte(nil), it.Key()...)
			r.Start = append(append([]byte(nil), key...), 0)
			if !move.is(key) {
				done.Others++
				continue
			}
			var newKey, newValue []byte
			if newKey, newValue, err = move.row(key, append([]byte{}, it.Value()...)); err == nil {
				old, keys, values = append(old, key), append(keys, newKey), append(values, newValue)
			}
		}
		if err == nil {
			err = it.Error()
		}
		if closed := it.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return done, err
		}
		for i, key := range old {
			from.Delete(key)
			if keys[i] == nil {
				done.Dropped++
				continue
			}
			to.Set(keys[i], values[i])
			done.Moved++
		}
		if read < migrationStep {
			return done, nil
		}
	}
}

// someVal is an option that is there.
func someVal(v val) val {
	return val{i: 1, l: []val{v}}
}
