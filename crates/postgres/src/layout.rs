//! The tables of a database, and the statements on them.

use std::fmt::Write as _;
use std::ops::Bound;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space};

use crate::failure::{CONFLICT, FENCED, LOST};

/// The version of the layout.
pub(crate) const FORMAT: i32 = 1;

/// A schema, and the statements that are the same for all of its spaces.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Quoted.
    schema: String,
    pub(crate) exists: &'static str,
    pub(crate) format: String,
    pub(crate) spaces: String,
    /// Begins a transaction of a writer: its number, that of the batch, its epoch, and when it is too late for it.
    pub(crate) begin: String,
    /// Microseconds, by the clock of the server.
    pub(crate) clock: &'static str,
    pub(crate) register: String,
    pub(crate) leave: String,
    pub(crate) settle: String,
    pub(crate) size: String,
}

impl Layout {
    pub(crate) fn new(schema: &str) -> Self {
        let schema = quoted(schema);
        Self {
            exists: "SELECT to_regclass(format('%I.keyplan_format', $1::text)) IS NOT NULL",
            format: format!("SELECT version FROM {schema}.keyplan_format"),
            spaces: format!("SELECT number, name, usage FROM {schema}.keyplan_spaces ORDER BY number"),
            // What comes too late is refused like what has lost its ground: after the lock, for which it may have waited.
            begin: format!(
                "SELECT {schema}.keyplan_refuse(clock_timestamp() > to_timestamp($4::int8 / 1000000.0)) \
                 FROM {schema}.keyplan_begin($1, $2, $3)"
            ),
            clock: "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8",
            register: format!("SELECT {schema}.keyplan_register($1)"),
            leave: format!("DELETE FROM {schema}.keyplan_writers WHERE id = $1"),
            // Waits for the old transaction if that is still under way, and keeps it from beginning if it is not yet.
            settle: format!(
                "UPDATE {schema}.keyplan_writers SET epoch = $2::int8 + 1 WHERE id = $1 AND epoch IN ($2::int8, $2::int8 + 1) AND NOT fenced \
                 RETURNING batch"
            ),
            size: format!(
                "SELECT coalesce(sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)), 0)::int8 \
                 FROM pg_tables WHERE schemaname = {}",
                literal(schema.replace("\"\"", "\"").trim_matches('"'))
            ),
            schema,
        }
    }

    /// Everything that an empty schema needs. Done under [`Layout::lock`].
    pub(crate) fn create(&self) -> String {
        let schema = &self.schema;
        let lock = self.lock();
        format!(
            "CREATE SCHEMA IF NOT EXISTS {schema};
             CREATE TABLE IF NOT EXISTS {schema}.keyplan_format (version int4 NOT NULL);
             INSERT INTO {schema}.keyplan_format SELECT {FORMAT} WHERE NOT EXISTS (SELECT 1 FROM {schema}.keyplan_format);
             CREATE TABLE IF NOT EXISTS {schema}.keyplan_spaces (
                 number int4 PRIMARY KEY, name text NOT NULL UNIQUE, usage text NOT NULL);
             CREATE TABLE IF NOT EXISTS {schema}.keyplan_writers (
                 id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, epoch int8 NOT NULL DEFAULT 0,
                 batch int8 NOT NULL DEFAULT 0, alone bool NOT NULL, fenced bool NOT NULL DEFAULT false,
                 since timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 10);
             CREATE OR REPLACE FUNCTION {schema}.keyplan_begin(writer int8, number int8, at_epoch int8) RETURNS void
             LANGUAGE plpgsql AS $body$
             BEGIN
                 PERFORM {lock};
                 UPDATE {schema}.keyplan_writers SET batch = number
                     WHERE id = writer AND epoch = at_epoch AND NOT fenced AND batch = number - 1;
                 IF NOT FOUND THEN
                     IF EXISTS (SELECT 1 FROM {schema}.keyplan_writers
                                WHERE id = writer AND epoch = at_epoch AND NOT fenced) THEN
                         RAISE EXCEPTION 'keyplan: batches of this writer are missing' USING ERRCODE = '{LOST}';
                     END IF;
                     RAISE EXCEPTION 'keyplan: another writer has taken over' USING ERRCODE = '{FENCED}';
                 END IF;
             END $body$;
             CREATE OR REPLACE FUNCTION {schema}.keyplan_register(alone_asked bool) RETURNS int8
             LANGUAGE plpgsql AS $body$
             DECLARE made int8;
             BEGIN
                 PERFORM {lock};
                 UPDATE {schema}.keyplan_writers SET fenced = true WHERE (alone_asked OR alone) AND NOT fenced;
                 INSERT INTO {schema}.keyplan_writers (alone) VALUES (alone_asked) RETURNING id INTO made;
                 RETURN made;
             END $body$;
             CREATE OR REPLACE FUNCTION {schema}.keyplan_refuse(otherwise bool) RETURNS void
             LANGUAGE plpgsql AS $body$
             BEGIN
                 IF otherwise THEN
                     RAISE EXCEPTION 'keyplan: what the batch was made from has changed' USING ERRCODE = '{CONFLICT}';
                 END IF;
             END $body$;"
        )
    }

    /// The lock that whoever writes to the schema holds until its transaction ends.
    pub(crate) fn lock(&self) -> String {
        format!(
            "pg_advisory_xact_lock(hashtextextended({}, 20260))",
            literal(&format!("keyplan {}", self.schema))
        )
    }

    pub(crate) fn add_space(&self, number: i32, usage: &str) -> String {
        let table = self.table(number);
        // Structures rewrite rows in place, for which their pages keep some room.
        let fill = if usage == "structures" { 70 } else { 90 };
        format!(
            "CREATE TABLE {table} (k bytea PRIMARY KEY, v bytea NOT NULL) WITH (fillfactor = {fill}, \
             autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.1);
             ALTER TABLE {table} ALTER COLUMN k SET STORAGE PLAIN;
             ALTER TABLE {table} ALTER COLUMN v SET COMPRESSION pglz"
        )
    }

    pub(crate) fn insert_space(&self) -> String {
        format!("INSERT INTO {}.keyplan_spaces (number, name, usage) VALUES ($1, $2, $3)", self.schema)
    }

    pub(crate) fn table(&self, number: i32) -> String {
        format!("{}.space_{number}", self.schema)
    }

    fn refuse(&self) -> String {
        format!("{}.keyplan_refuse", self.schema)
    }
}

/// A space, and the statements on its table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) space: Space,
    pub(crate) quoted: String,
    pub(crate) get: String,
    pub(crate) get_many: String,
    pub(crate) put: String,
    pub(crate) delete: String,
    pub(crate) expect_values: String,
    pub(crate) copy: String,
    pub(crate) beyond: String,
    refuse: String,
}

impl Table {
    pub(crate) fn new(layout: &Layout, number: i32, space: Space) -> Self {
        let table = layout.table(number);
        let refuse = layout.refuse();
        Self {
            space,
            get: format!("SELECT v FROM {table} WHERE k = $1"),
            get_many: format!(
                "SELECT e.n, t.v FROM unnest($1::bytea[]) WITH ORDINALITY e(k, n) JOIN {table} t ON t.k = e.k"
            ),
            put: format!(
                "INSERT INTO {table} (k, v) SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
                 ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v"
            ),
            delete: format!("DELETE FROM {table} WHERE k = ANY($1::bytea[])"),
            expect_values: format!(
                "SELECT {refuse}(EXISTS (SELECT 1 FROM unnest($1::bytea[], $2::bytea[]) e(k, d) \
                 LEFT JOIN {table} t ON t.k = e.k WHERE sha256(t.v) IS DISTINCT FROM e.d))"
            ),
            copy: format!("COPY {table} (k, v) FROM STDIN BINARY"),
            beyond: format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE k >= $1)"),
            quoted: table,
            refuse,
        }
    }

    /// The statement for a page of a range: its bounds are the first parameters, the number of rows is the last.
    pub(crate) fn page(&self, range: KeyRange<'_>, direction: Direction) -> String {
        let (text, next) = self.rows(range, direction);
        format!("{text} LIMIT ${next}")
    }

    /// The statement that refuses unless a range holds certain rows: its bounds, how many, and their digest.
    pub(crate) fn expect_rows(&self, range: KeyRange<'_>, direction: Direction) -> String {
        let (rows, count) = self.rows(range, direction);
        let digest = count + 1;
        let order = order(direction);
        format!(
            "SELECT {}((SELECT count(*) <> ${count}::int8 OR coalesce(sha256(string_agg(sha256(k) || sha256(v), \
             ''::bytea ORDER BY k {order})), sha256(''::bytea)) <> ${digest}::bytea \
             FROM ({rows} LIMIT ${count}::int8 + 1) found))",
            self.refuse
        )
    }

    /// Rows of a range, and the number of the next parameter.
    fn rows(&self, range: KeyRange<'_>, direction: Direction) -> (String, u32) {
        let mut text = format!("SELECT k, v FROM {}", self.quoted);
        let mut next = 1;
        let mut joint = "WHERE";
        let sides = [
            match range.start {
                Bound::Included(_) => Some(">="),
                Bound::Excluded(_) => Some(">"),
                Bound::Unbounded => None,
            },
            match range.end {
                Bound::Included(_) => Some("<="),
                Bound::Excluded(_) => Some("<"),
                Bound::Unbounded => None,
            },
        ];
        for side in sides.into_iter().flatten() {
            // Writing to a string does not fail.
            let _ = write!(text, " {joint} k {side} ${next}::bytea");
            joint = "AND";
            next += 1;
        }
        let _ = write!(text, " ORDER BY k {}", order(direction));
        (text, next)
    }
}

/// The bounds of a range, as parameters of [`Table::page`].
pub(crate) fn bounds(range: KeyRange<'_>) -> impl Iterator<Item = &[u8]> {
    [range.start, range.end].into_iter().filter_map(|bound| match bound {
        Bound::Included(key) | Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    })
}

const fn order(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "ASC",
        Direction::Descending => "DESC",
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotes() {
        let layout = Layout::new("a\"; DROP TABLE x; --'");
        assert_eq!(layout.table(3), "\"a\"\"; DROP TABLE x; --'\".space_3");
        assert!(layout.lock().contains("'keyplan \"a\"\"; DROP TABLE x; --''\"'"), "{}", layout.lock());
    }

    #[test]
    fn a_page_has_the_bounds_of_its_range() {
        let table = Table::new(&Layout::new("s"), 0, Space::map("x"));
        let page = |start, end, direction| table.page(KeyRange { start, end }, direction);
        let (up, down) = (Direction::Ascending, Direction::Descending);
        let all = "SELECT k, v FROM \"s\".space_0";
        assert_eq!(page(Bound::Unbounded, Bound::Unbounded, up), format!("{all} ORDER BY k ASC LIMIT $1"));
        assert_eq!(
            page(Bound::Excluded(b"a"), Bound::Included(b"b"), down),
            format!("{all} WHERE k > $1::bytea AND k <= $2::bytea ORDER BY k DESC LIMIT $3")
        );
        assert_eq!(
            page(Bound::Unbounded, Bound::Excluded(b"b"), up),
            format!("{all} WHERE k < $1::bytea ORDER BY k ASC LIMIT $2")
        );
    }
}
