// The words of the language, for colours only: the prover is the judge of the text.
const TOKEN = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(b?"(?:\\.|[^"\\\n])*"?)|\b(0x[0-9a-fA-F_]*|\d[\d_]*)\b|\b(plan|import|type|names|space|module|key|hash|zset|set|queue|member|score|field|scan|all|by|in|order|bare|with|filtered|own|as|to|through|next|from|drop|allow|break|accept|allot|retired|same)\b/g;
const KINDS = ['comment', 'string', 'number', 'word'];

/** Stretches of a text with the kind of each that has one, in order and without gaps. */
export function tokens(text) {
  const out = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) out.push({ start: end, end: match.index, kind: '' });
    end = match.index + match[0].length;
    out.push({ start: match.index, end, kind: KINDS[match.slice(1).findIndex((one) => one !== undefined)] });
  }
  if (end < text.length) out.push({ start: end, end: text.length, kind: '' });
  return out;
}
