//! What every module asks of a plan: bytes from arguments, arguments from bytes, the prefix of a scan.
//!
//! The shape below is what the modules are written against; its bodies follow the dynamic API.

// pub struct Layout                          one plan file, parsed and resolved once
// Layout::open("osmosis_cl.keyplan")         relative to plans/; panics with the diagnostics
// layout.key("cl.tick", &[("pool_id", Value)]) -> Result<Vec<u8>, String>       encodes, unguarded
// layout.both("cl.tick", args, bytes) -> Outcome    encodes to exactly `bytes` and decodes `bytes` to exactly `args`
//                                            (one reading; or among several where the plan accepts the flaw)
// layout.scan("cl.tick", args) -> Result<Vec<u8>, String>                       the prefix that binds `args`
// layout.readings("cl", bytes) -> Vec<Reading>       every family and arguments that make these bytes in a space
// layout.value("cl.tick", args), layout.read_value("cl.tick", bytes)            the same for values
