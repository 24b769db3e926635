/** Why a plan, a key or a request was refused. */
export class PlanError extends Error {}

/** A place in a text. */
export interface Place {
  /** In bytes of UTF-8, from 0. */
  offset: number;
  /** From 1. */
  line: number;
  /** In characters, from 1. */
  column: number;
}

/** A stretch of a file, and what is said of it or put there. */
export interface Label {
  file: string;
  start: Place;
  end: Place;
  text: string;
}

/** A change to the plan that was proved to cure a finding. */
export interface Repair {
  title: string;
  needs_migration: boolean;
  keeps_claims: boolean;
  grows_least: number;
  grows_most: number | null;
  edit: Label;
}

/** One finding, as `keyplan check --format json` has it: docs/findings.schema.json. */
export interface Finding {
  code: string;
  name: string;
  severity: 'error' | 'warning';
  message: string;
  help?: string;
  labels: Label[];
  notes: { kind: string; text: string }[];
  space?: string;
  family?: string;
  other?: string;
  witness?: unknown;
  repairs: Repair[];
}

/** What is known of a plan. */
export interface Checked {
  name: string | null;
  fingerprint: string | null;
  families: number;
  scans: number;
  proved: number;
  refuted: number;
  unknown: number;
  findings: Finding[];
}

/** An argument: integers that JavaScript cannot hold are text, bytes are hex after `0x`. */
export type Argument = string | number | bigint | boolean | null | Uint8Array | Argument[] | { [name: string]: Argument };

/** A key that was read. */
export interface Decoded {
  space: string;
  family: string;
  args: { [name: string]: Argument };
}

/** Some bytes of a key, and what they are. */
export interface Piece {
  start: number;
  end: number;
  kind: 'literal' | 'mark' | 'argument';
  name: string;
  label: string;
  hex: string;
}

/** Everything that is known of a key. */
export interface Explanation {
  hex: string;
  readings: (Decoded & { doc: string[]; pieces: Piece[] })[];
  more: boolean;
  /** Without a reading: the families that get furthest. */
  nearest: { family: string; offset: number; why: string; sound: [number, number][]; prefix: string | null }[];
}

/** What a plan is called, and the files that it may import. */
export interface PlanOptions {
  name?: string;
  files?: { [path: string]: string };
}

export interface Keyplan {
  /** Everything that is wrong with a plan; with `repairs`, also what would cure it. */
  check(text: string, options?: PlanOptions & { repairs?: boolean }): Checked;
  /** The text in its one form. */
  format(text: string): string;
  /** The key of a family. One that can also be read in another way is refused. */
  encode(text: string, family: string, args: { [name: string]: Argument }, options?: PlanOptions): Uint8Array;
  /** The one reading of a key; none or several are an error. */
  decode(text: string, key: Uint8Array | string, options?: PlanOptions & { space?: string }): Decoded;
  /** Every reading of a key, or why it has none. */
  explain(text: string, key: Uint8Array | string, options?: PlanOptions & { space?: string }): Explanation;
}

/** Loads the module: from `source`, or from the file beside this one. */
export function load(source?: Uint8Array | ArrayBuffer | WebAssembly.Module | Response | Promise<Response>): Promise<Keyplan>;
/** Bytes as hex digits. */
export function toHex(bytes: Uint8Array | string): string;
/** Hex digits as bytes. */
export function fromHex(hex: string): Uint8Array;
