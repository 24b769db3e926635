//! Structures on servers that these tests start: one, and a cluster of three masters and three replicas.
#![cfg(test)]

mod bad;
#[path = "../structures/checked.rs"]
mod checked;
mod cluster;
mod failover;
#[path = "../structures/model.rs"]
mod model;
mod particular;
mod race;
mod server;
#[path = "../structures/suite.rs"]
mod suite;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "these tests need no engine")]
mod support;
mod workers;

use keyplan_store::structure::{Redis, RedisSettings};

use crate::cluster::Cluster;
use crate::server::Server;
use crate::support::rounds;

/// A server, and settings for it.
fn server() -> (Server, RedisSettings) {
    let server = Server::start(&[]).unwrap_or_else(|error| panic!("{error}"));
    let settings = RedisSettings::new(&format!("redis://{}", server.address())).unwrap();
    (server, settings)
}

#[test]
fn structures_on_a_server_agree_with_the_model() {
    let (_server, settings) = server();
    suite::run(30, rounds(1_000), || Box::new(Redis::open(settings.clone()).unwrap()));
}

#[test]
fn commands_are_done_if_what_they_were_made_from_is_still_so() {
    let (_server, settings) = server();
    checked::run(33, rounds(500), &Redis::open(settings).unwrap());
}

#[test]
fn queues_that_another_program_shares_agree_with_the_model() {
    let (_server, settings) = server();
    let settings = particular::spread(settings.shared_queues("q:"), 3).connections(1);
    suite::run(31, rounds(500), || Box::new(Redis::open(settings.clone()).unwrap()));
}

#[test]
fn structures_on_a_cluster_agree_with_the_model() {
    let cluster = Cluster::start();
    suite::run(32, rounds(500), || Box::new(Redis::connect(&cluster.url()).unwrap()));
    checked::run(34, rounds(200), &Redis::connect(&cluster.url()).unwrap());
    race::on(&cluster.url());
    particular::keys_of_several_slots(&cluster);
    workers::crash(&Redis::connect(&cluster.url()).unwrap(), 300);
    particular::spread_over_slots(&cluster);
    particular::slots_that_move(&cluster);
}
