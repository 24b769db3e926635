keyplan::plan! {
    plan misallotted;
    space state {
        module oracle = 0x03 {
            allot 0x01..=0x0F core "what every handler reads";
            allot 0x20..=0x2F cross_module "IBC and relayers";
            retired 0x0C "was the outlier history";

            key nonce = 0x0D channel: u64
                allot cross_module;
            key outliers = 0x0C height: u64
                allot core;
        }
    }
}

fn main() {}
