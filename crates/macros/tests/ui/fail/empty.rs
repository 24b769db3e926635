keyplan::plan! {}

fn main() {}
