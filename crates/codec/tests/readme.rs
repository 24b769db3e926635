//! What `README.md` shows.
#![cfg(test)]

#[test]
fn the_lines_of_the_readme() -> Result<(), Box<dyn std::error::Error>> {
    use keyplan_codec::{Be, Buffer, Segment};

    let mut bytes = [0; 8];
    let mut buffer = Buffer::new(&mut bytes);
    Be::<u64>::new().encode(7, &mut buffer)?;
    assert_eq!(bytes, 7_u64.to_be_bytes());
    Ok(())
}
