//! What the module exports.
//!
//! The caller asks [`keyplan_request`] for room, writes a request there, calls [`keyplan_answer`], which gives the length of the answer, and
//! reads that many bytes from where [`keyplan_answered`] says. Every call may move the memory.

use std::cell::RefCell;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request of so many bytes, and says where.
#[expect(unsafe_code, reason = "only an attribute gives an export its name")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keyplan_request(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request that was written, and gives the length of the answer.
#[expect(unsafe_code, reason = "only an attribute gives an export its name")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keyplan_answer() -> usize {
    let answer = REQUEST.with_borrow(|request| crate::answer(request));
    let length = answer.len();
    ANSWER.set(answer);
    length
}

/// Where the answer is.
#[expect(unsafe_code, reason = "only an attribute gives an export its name")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keyplan_answered() -> *const u8 {
    ANSWER.with_borrow(std::vec::Vec::as_ptr)
}
