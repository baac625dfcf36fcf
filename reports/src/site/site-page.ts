import type { Figure } from '../figure.js';
import type { Html } from '../html.js';

/**
 * One page of a report's site. The shell gives it its heading, navigation, style and scripts; `body` begins below the
 * heading, with headings from `h2` on. Pages without a folder in their id stand in the navigation, in their order.
 */
export interface SitePage {
  /** Its file without `.html`: `results`, `cells/c-1f…`. Letters, digits, `.`, `_`, `-`, and one folder at most. */
  readonly id: string;
  /** In the navigation and in the window's title. */
  readonly title: string;
  /** The first heading; `title` where it is left out. */
  readonly heading?: string;
  readonly body: Html;
  /** Each is drawn into the element with its id, which `figureBlock` makes. */
  readonly figures: readonly Figure[];
  /** What the page's scripts read, by name: kept in the page as data, never run. */
  readonly data?: Readonly<Record<string, unknown>>;
}
