//! What every engine does.

use keyplan_slate::Slate;
use keyplan_store::engine::Engine as _;

use crate::{kills, laws, support};

#[test]
fn it_agrees_with_a_map() {
    laws::agrees_with_a_map::<Slate>(7);
}

#[test]
fn it_keeps_a_snapshot_over_thousands_of_commits() {
    laws::keeps_a_snapshot_over_thousands_of_commits::<Slate>();
}

#[test]
fn it_shows_no_half_of_a_batch() {
    laws::shows_no_half_of_a_batch::<Slate>();
}

#[test]
fn it_refuses_commits_after_shutdown() {
    laws::refuses_commits_after_shutdown::<Slate>();
}

#[test]
fn a_shutdown_without_time_loses_nothing() {
    laws::ends_in_time_and_loses_nothing::<Slate>();
}

#[test]
fn it_ingests_ascending_rows() {
    laws::ingests_ascending_rows::<Slate>();
}

#[test]
fn a_panic_of_a_visitor_is_not_taken_for_the_engine_s() {
    laws::lets_a_visitor_panic::<Slate>();
}

#[test]
fn who_is_lent_a_row_can_read_on_and_write() {
    laws::lends_to_who_reads_on::<Slate>();
}

#[test]
fn it_refuses_what_was_made_from_rows_that_changed() {
    laws::refuses_what_was_made_from_rows_that_changed::<Slate>();
}

#[test]
fn it_counts_every_one_of_many_writers() {
    laws::counts_every_one_of_many_writers::<Slate>();
}

#[test]
fn it_is_at_one_committed_batch_after_its_writer_was_killed() {
    kills::survives_being_killed::<Slate>(Slate::NAME, 8, support::rounds(10));
}
