//! Values in the formats of chains have types of their own, which programs read and write by the usual crates.

#![cfg(all(feature = "rlp", feature = "scale", feature = "bcs", feature = "borsh", feature = "cbor"))]

use formats::s::{Account, Cursor, Entity, Header, MixedValue, Object, State};
use keyplan::typed::{Bcs, Bincode, Borsh, Cbor, Key, Rlp, Scale, Value as _};

keyplan::plan! {
    plan formats;

    type Coin = (amount: u32 denom: text);

    space s {
        key header = 0x01 n: u64 -> rlp;
        key account = 0x02 n: u64 -> scale(Coin);
        key object = 0x03 n: u64 -> bcs(Coin);
        key state = 0x04 n: u64 -> borsh(Coin);
        key cursor = 0x05 n: u64 -> bincode(Coin);
        key entity = 0x06 n: u64 -> cbor(Coin);
        /// One part of several.
        key mixed = 0x07 n: u64 -> version: u8 rest: borsh(Coin);
    }
}

#[test]
fn a_value_is_read_and_written_as_its_format_is() {
    let (coin, mut room) = ((7u32, "osmo".to_owned()), Vec::new());

    let value: <Header as Key>::Value<'_> = Rlp::write(&1024u64, &mut room);
    assert_eq!(value.0, b"\x82\x04\x00");
    assert_eq!(value.read::<u64>().unwrap(), 1024);

    let value: <Account as Key>::Value<'_> = Scale::write(&coin, &mut room);
    assert_eq!(value.0, b"\x07\0\0\0\x10osmo");
    assert_eq!(value.read::<(u32, String)>().unwrap(), coin);

    let value: <Object as Key>::Value<'_> = Bcs::write(&coin, &mut room).unwrap();
    assert_eq!(value.0, b"\x07\0\0\0\x04osmo");
    assert_eq!(value.read::<(u32, String)>().unwrap(), coin);

    let value: <State as Key>::Value<'_> = Borsh::write(&coin, &mut room).unwrap();
    assert_eq!(value.0, b"\x07\0\0\0\x04\0\0\0osmo");
    assert_eq!(value.read::<(u32, String)>().unwrap(), coin);

    let value: <Entity as Key>::Value<'_> = Cbor::write(&coin, &mut room).unwrap();
    assert_eq!(value.0, b"\x82\x07\x64osmo");

    let value = <Cursor as Key>::Value::decode(b"\x07").unwrap();
    assert_eq!(value, Bincode(b"\x07"));

    let mixed = MixedValue { version: 1, rest: Borsh::write(&coin, &mut room).unwrap() };
    let bytes = mixed.to_vec().unwrap();
    assert_eq!(MixedValue::decode(&bytes).unwrap().rest.read::<(u32, String)>().unwrap(), coin);
}
