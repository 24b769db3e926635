// What is asked of the server, and the state of the page, which is its address.

/** Asks a page; parameters that are empty are left out. Whoever has left meanwhile gets an `AbortError` and nothing else. */
export async function ask(page, params = {}, signal) {
  try {
    return await answer(await fetch(`api/${page}?${query(params)}`, { signal, headers: { accept: 'application/json' } }));
  } finally {
    // An answer whose text was being read fails in other ways than one that was awaited.
    if (signal?.aborted) throw new DOMException('left', 'AbortError');
  }
}

/** Asks a page that does more than answer. */
export async function act(page, params = {}, body = '') {
  return answer(await fetch(`api/${page}?${query(params)}`, { method: 'POST', body, headers: { 'x-keyplan': '1' } }));
}

async function answer(response) {
  let json;
  try { json = await response.json(); } catch { throw new Error(`the program does not answer (${response.status})`); }
  if (!response.ok) throw new Error(json.error ?? `status ${response.status}`);
  return json;
}

export function query(params) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '' && value !== false) pairs.append(name, value);
  }
  return pairs.toString();
}

/** Waits. */
export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Asks a job until it has ended; `told` sees each answer. */
export async function job(page, params, told, signal) {
  for (let again = params.again; ; again = false) {
    const found = await ask(page, { ...params, again }, signal);
    if (found.state === 'done') return found.result;
    if (found.state !== 'running') throw new Error(found.why ?? found.state);
    told(found);
    await pause(300);
    signal?.throwIfAborted();
  }
}

/** The state: what is after the `?` of the address. */
export const state = () => Object.fromEntries(new URLSearchParams(location.search));

const listeners = [];
export const onstate = (listener) => listeners.push(listener);

export const address = (params) => `?${query(params)}`;

/** Goes to another state; `replace` leaves no step to go back to. */
export function go(params, { replace = false } = {}) {
  const to = address(params);
  if (to === (location.search || '?')) return changed();
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  return changed();
}

export function changed() {
  const now = state();
  for (const listener of listeners) listener(now);
}

addEventListener('popstate', changed);

/** A link inside of the page: a click changes the state, and another tab opens it as well. */
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href^="?"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(Object.fromEntries(new URLSearchParams(link.getAttribute('href'))));
});

/** What of a state says which rows are shown. */
export function rowsOf(now) {
  const keep = ['family', 'scan', 'from', 'to', 'rev', 'after', 'before', 'height', 'space', 'only', 'group', 'prefix', 'limit'];
  const params = {};
  for (const [name, value] of Object.entries(now)) {
    if (keep.includes(name) || name.startsWith('a.')) params[name] = value;
  }
  return params;
}

/** A state without its page, its key or its scan. */
export function without(now, ...names) {
  return Object.fromEntries(Object.entries(now).filter(([name]) =>
    !names.some((left) => left === name || (left.endsWith('.') && name.startsWith(left)))));
}
