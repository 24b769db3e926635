// The prover beside the page: a plan that takes long never holds up typing.
import { load } from './keyplan.js';

const ready = load();

self.onmessage = async ({ data: { id, call, given } }) => {
  try {
    const keyplan = await ready;
    const start = performance.now();
    const answer = keyplan[call](...given);
    self.postMessage({ id, answer, time: performance.now() - start });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
