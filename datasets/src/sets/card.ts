import { createHash } from 'node:crypto';

/** What is known of a published data set, as data: where it comes from, under which terms, how large it is, what is wrong in it. */
export interface DatasetCard {
  readonly id: string;
  readonly title: string;
  /** One line: what is asked. */
  readonly summary: string;
  /** SPDX where there is one, else in words. */
  readonly licence: string;
  readonly grader: string;
  /** Repository or page of its authors. */
  readonly source: string;
  /** Splits with their number of records, null where it isn't known; the first is the default. */
  readonly splits: Readonly<Record<string, number | null>>;
  /** Where it is on the model hub; null when it isn't. */
  readonly hub: HubSource | null;
  /** How to get it, in a sentence or two, where fetching a file alone doesn't do. */
  readonly how?: string;
  /** Fields that every record has: a name, or names of which one must be there. Dots go into objects. */
  readonly fields: readonly (string | readonly string[])[];
  /** Files that are known by their sha256. */
  readonly copies: readonly KnownFile[];
  readonly known_bad: readonly KnownBad[];
  /** The authors ask not to show its questions in plain text. */
  readonly withhold?: true;
  /** What else a reader of results should know. */
  readonly notes: readonly string[];
}

/** A repository of data sets on the model hub. */
export interface HubSource {
  readonly repo: string;
  /** Whether its terms have to be accepted with an account first. */
  readonly gated: boolean;
  /** Files of each split, where `*` stands for anything but a slash. */
  readonly files: Readonly<Record<string, string>>;
}

/** A file known by its hash. */
export interface KnownFile {
  readonly name: string;
  readonly rows: number;
  readonly sha256: string;
}

/** A record whose answer is wrong, or not the only right one. */
export interface KnownBad {
  /** Its id; where records have none, `question` names it. */
  readonly id?: string;
  /** First 16 hex digits of the sha256 of the question. */
  readonly question?: string;
  readonly kind: 'wrong-gold' | 'duplicate-option' | 'duplicate-row' | 'wrong-example' | 'wrong-verdict';
  readonly why: string;
}

/** How `KnownBad` names a question. */
export const questionDigest = (question: string): string =>
  createHash('sha256').update(question).digest('hex').slice(0, 16);
