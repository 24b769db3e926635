//! The five plans as text, with the files that they are made of.

/// The plans of the five systems, as they are in `plans/`.
pub const PLANS: [(&str, &str); 5] = [
    ("plans/osmosis_cl.keyplan", include_str!("../../plans/osmosis_cl.keyplan")),
    ("plans/cosmwasm.keyplan", include_str!("../../plans/cosmwasm.keyplan")),
    ("plans/cardano.keyplan", include_str!("../../plans/cardano.keyplan")),
    ("plans/paw.keyplan", include_str!("../../plans/paw.keyplan")),
    ("plans/onesat.keyplan", include_str!("../../plans/onesat.keyplan")),
];

/// The schemas of their values.
const SCHEMAS: [(&str, &str); 6] = [
    ("plans/proto/cosmos/coin.proto", include_str!("../../plans/proto/cosmos/coin.proto")),
    ("plans/proto/osmosis/accum.proto", include_str!("../../plans/proto/osmosis/accum.proto")),
    (
        "plans/proto/osmosis/concentrated_liquidity.proto",
        include_str!("../../plans/proto/osmosis/concentrated_liquidity.proto"),
    ),
    ("plans/proto/paw/compute.proto", include_str!("../../plans/proto/paw/compute.proto")),
    ("plans/proto/paw/dex.proto", include_str!("../../plans/proto/paw/dex.proto")),
    ("plans/proto/paw/oracle.proto", include_str!("../../plans/proto/paw/oracle.proto")),
];

/// The files that these plans are made of beside their own.
const PARTS: [(&str, &str); 4] = [
    ("plans/paw/house.keyplan", include_str!("../../plans/paw/house.keyplan")),
    ("plans/paw/compute.keyplan", include_str!("../../plans/paw/compute.keyplan")),
    ("plans/paw/dex.keyplan", include_str!("../../plans/paw/dex.keyplan")),
    ("plans/paw/oracle.keyplan", include_str!("../../plans/paw/oracle.keyplan")),
];

/// The text of a file that one of the plans imports.
pub fn imported(path: &str) -> Option<&'static str> {
    SCHEMAS.iter().chain(&PARTS).find(|(known, _)| *known == path).map(|(_, text)| *text)
}
