/// A setting of an engine, as it is written into the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it is fixed when the database is created: opening with another value would have no effect.
    pub fixed: bool,
}

impl Setting {
    /// A setting that the database keeps from its creation on.
    pub fn fixed(name: &str, value: &impl ToString) -> Self {
        Self { name: name.to_owned(), value: value.to_string(), fixed: true }
    }

    /// A setting that each opening chooses.
    pub fn per_open(name: &str, value: &impl ToString) -> Self {
        Self { name: name.to_owned(), value: value.to_string(), fixed: false }
    }
}

/// The memory that this process may use: that of the machine, or of its control group if that is less.
///
/// `None` where the system does not tell.
pub fn machine_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.split_whitespace().next()?.parse().ok()?;
    let machine = kibibytes.checked_mul(1024)?;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse::<u64>().ok());
    Some(group.map_or(machine, |group| group.min(machine)))
}

pub(super) const MIB: u64 = 1024 * 1024;

/// Bytes to keep in memory where nobody says how many: a sixteenth of what there is.
pub(crate) fn cache_bytes() -> u64 {
    machine_memory().map_or(256 * MIB, |memory| (memory / 16).clamp(64 * MIB, 1024 * MIB))
}
