//! The suite as tests of an engine that is a crate of its own.

/// A test for each part of the suite, on the store that a function opens in a directory.
macro_rules! on_engine {
    ($open:ident) => {
        #[test]
        fn everything_is_read_back() {
            suite::everything_is_read_back(&$open(&TempDir::new().unwrap()));
        }

        #[test]
        fn a_transaction_taken_back_leaves_the_store_as_it_was() {
            suite::a_transaction_taken_back_leaves_the_store_as_it_was(&$open(&TempDir::new().unwrap()));
        }

        #[test]
        fn a_transaction_that_was_confirmed_is_taken_back_whole() {
            let directory = TempDir::new().unwrap();
            suite::a_transaction_that_was_confirmed_is_taken_back_whole(|| $open(&directory));
        }

        #[test]
        fn a_chain_of_transactions_is_taken_back_step_by_step() {
            suite::a_chain_of_transactions_is_taken_back_step_by_step(&$open(&TempDir::new().unwrap()));
        }

        #[test]
        fn a_search_has_ends_and_a_direction() {
            suite::a_search_has_ends_and_a_direction(&$open(&TempDir::new().unwrap()));
        }

        #[test]
        fn jobs_are_held_by_one_worker_and_come_back() {
            suite::jobs_are_held_by_one_worker_and_come_back(&$open(&TempDir::new().unwrap()));
        }

        #[test]
        fn tokens_are_listed_and_progress_is_kept() {
            suite::tokens_are_listed_and_progress_is_kept(&$open(&TempDir::new().unwrap()));
        }
    };
}
