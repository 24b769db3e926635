use std::collections::VecDeque;

use keyplan::store::collection::{Deque, SpanKey};
use keyplan::store::engine::Memory;
use keyplan::store::{Error, Read as _, Store};

use super::collections::state::{Job, JobEnds, JobEndsValue, JobValue};
use super::{PLAN, in_batches};
use crate::support::{Opened, on_every_engine};

impl SpanKey for JobEnds {
    fn value_of(start: u64, end: u64) -> JobEndsValue {
        JobEndsValue { start, end }
    }
    fn span_of(value: JobEndsValue) -> (u64, u64) {
        (value.start, value.end)
    }
}

fn a_deque<E: Opened>() {
    let deque = Deque::new(|place| Job { place }, JobEnds);
    in_batches::<E, VecDeque<String>>(
        4,
        VecDeque::new(),
        |batch, model, random| {
            let text = random.below(1000).to_string();
            let value = JobValue { value: &text };
            match random.below(20) {
                0 => {
                    deque.clear(batch).unwrap();
                    model.clear();
                }
                1..5 => {
                    let taken = deque.pop_front(batch).unwrap();
                    assert_eq!(taken.map(|taken| taken.value().unwrap().value.to_owned()), model.pop_front());
                }
                5..8 => {
                    let taken = deque.pop_back(batch).unwrap();
                    assert_eq!(taken.map(|taken| taken.value().unwrap().value.to_owned()), model.pop_back());
                }
                8..13 => {
                    deque.push_back(batch, &value).unwrap();
                    model.push_back(text);
                }
                13..17 => {
                    deque.push_front(batch, &value).unwrap();
                    model.push_front(text);
                }
                _ => {
                    let index = random.below(model.len() as u64 + 2);
                    let set = deque.set(batch, index, &value);
                    if let Some(place) = model.get_mut(usize::try_from(index).unwrap()) {
                        set.unwrap();
                        *place = text;
                    } else {
                        let length = model.len() as u64;
                        assert!(
                            matches!(set, Err(Error::NoElement { index: i, length: l }) if (i, l) == (index, length))
                        );
                    }
                }
            }
            assert_eq!(deque.len(batch).unwrap(), model.len() as u64);
            for index in 0..=model.len() {
                let found = deque.get(batch, index as u64).unwrap();
                let found = found.map(|found| found.value().unwrap().value.to_owned());
                assert_eq!(found.as_ref(), model.get(index));
            }
        },
        |store, model| {
            let view = store.snapshot().unwrap();
            let found: Vec<String> = deque
                .elements(&view)
                .unwrap()
                .map(|row| row.unwrap().value().unwrap().value.to_owned())
                .collect();
            assert_eq!(found, model.iter().cloned().collect::<Vec<_>>());
            // No row of an element that was taken is left.
            assert_eq!(view.scan(Job::all()).count(), model.len());
        },
    );
}

on_every_engine! {
    a_deque_counts_from_its_front_as_it_is_now = a_deque;
}

#[test]
fn a_deque_whose_places_are_used_up_refuses_and_does_not_wrap() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let deque = Deque::new(|place| Job { place }, JobEnds);
    let mut batch = store.batch().unwrap();
    for (start, end) in [(0, 1), (u64::MAX - 1, u64::MAX)] {
        let place = start;
        batch.put(&JobEnds, &JobEndsValue { start, end }).unwrap();
        batch.put(&Job { place }, &JobValue { value: "only" }).unwrap();
        let refused = if start == 0 {
            deque.push_front(&mut batch, &JobValue { value: "x" })
        } else {
            deque.push_back(&mut batch, &JobValue { value: "x" })
        };
        assert!(matches!(refused, Err(Error::Exhausted { family: "state.job_ends" })));
        assert_eq!(deque.len(&batch).unwrap(), 1);
        assert_eq!(deque.pop_back(&mut batch).unwrap().unwrap().value().unwrap().value, "only");
        // Empty, it has all places again.
        deque.push_front(&mut batch, &JobValue { value: "y" }).unwrap();
        deque.clear(&mut batch).unwrap();
        assert_eq!(batch.scan(Job::all()).count(), 0);
    }
}

#[test]
fn a_deque_of_many_that_were_taken_reads_its_front_at_once() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let deque = Deque::new(|place| Job { place }, JobEnds);
    let mut batch = store.batch().unwrap();
    for n in 0..2_000 {
        deque.push_back(&mut batch, &JobValue { value: &n.to_string() }).unwrap();
    }
    for n in 0..1_999 {
        let taken = deque.pop_front(&mut batch).unwrap().unwrap();
        assert_eq!(taken.value().unwrap().value, n.to_string());
    }
    assert_eq!(deque.len(&batch).unwrap(), 1);
    assert_eq!(deque.get(&batch, 0).unwrap().unwrap().value().unwrap().value, "1999");
}
