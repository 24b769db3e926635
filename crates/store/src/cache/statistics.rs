use std::fmt::{self, Write as _};

/// What a row cache holds and has done since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowStatistics {
    /// The bytes that it may take.
    pub budget: u64,
    /// The bytes that it takes: its rows, and the table that they are in.
    pub bytes: u64,
    /// Rows in it, those that say that there is no such key included.
    pub rows: u64,
    /// The reads of each family, by space.
    pub families: Vec<FamilyStatistics>,
}

/// The reads of a family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FamilyStatistics {
    /// The space, as the engine knows it.
    pub space: String,
    /// The paths of the families, several if their keys begin alike; `None` where the keys begin as no family's do.
    pub family: Option<String>,
    /// Reads that were answered from the cache.
    pub hits: u64,
    /// Reads that went to the engine.
    pub misses: u64,
    /// Rows that had to give way.
    pub evictions: u64,
}

impl RowStatistics {
    /// Reads that were answered from the cache, of all families.
    pub fn hits(&self) -> u64 {
        self.families.iter().map(|family| family.hits).sum()
    }

    /// Reads that went to the engine, of all families.
    pub fn misses(&self) -> u64 {
        self.families.iter().map(|family| family.misses).sum()
    }

    /// Rows that had to give way, of all families.
    pub fn evictions(&self) -> u64 {
        self.families.iter().map(|family| family.evictions).sum()
    }

    /// The figures as lines of `name{labels} value`, in the format that Prometheus reads.
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        let gauges = [
            ("budget_bytes", "Bytes that the row cache may take.", self.budget),
            ("bytes", "Bytes that the row cache takes.", self.bytes),
            ("rows", "Rows in the row cache.", self.rows),
        ];
        for (name, help, value) in gauges {
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "# HELP keyplan_row_cache_{name} {help}\n# TYPE keyplan_row_cache_{name} gauge\nkeyplan_row_cache_{name} {value}\n"
            );
        }
        let counters: [(&str, &str, Count); 3] = [
            ("hits", "Reads answered from the row cache.", |family| family.hits),
            ("misses", "Reads that went to the engine.", |family| family.misses),
            ("evictions", "Rows that had to give way.", |family| family.evictions),
        ];
        for (name, help, value) in counters {
            let _ = write!(
                text,
                "# HELP keyplan_row_cache_{name}_total {help}\n# TYPE keyplan_row_cache_{name}_total counter\n"
            );
            for family in &self.families {
                let _ = writeln!(
                    text,
                    "keyplan_row_cache_{name}_total{{space=\"{}\",family=\"{}\"}} {}",
                    Label(&family.space),
                    Label(family.family.as_deref().unwrap_or_default()),
                    value(family)
                );
            }
        }
        text
    }
}

/// A count of a family.
type Count = fn(&FamilyStatistics) -> u64;

/// The value of a label, with what would end it escaped.
struct Label<'l>(&'l str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            other => f.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_a_line_for_each_family() {
        let family = |family: Option<&str>| FamilyStatistics {
            space: "a\"b".into(),
            family: family.map(str::to_owned),
            hits: 3,
            misses: 2,
            evictions: 1,
        };
        let families = vec![family(Some("a.tick")), family(None)];
        let statistics = RowStatistics { budget: 10, bytes: 9, rows: 8, families };
        assert_eq!((statistics.hits(), statistics.misses(), statistics.evictions()), (6, 4, 2));
        let text = statistics.metrics();
        assert!(text.contains("# TYPE keyplan_row_cache_bytes gauge\nkeyplan_row_cache_bytes 9\n"));
        assert!(text.contains("keyplan_row_cache_misses_total{space=\"a\\\"b\",family=\"a.tick\"} 2\n"));
        assert!(text.contains("keyplan_row_cache_evictions_total{space=\"a\\\"b\",family=\"\"} 1\n"));
    }
}
