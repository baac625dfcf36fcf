import type { ErrorCode } from '@perwatt/core';
import type { MockServerOptions } from './mock-options.js';
import type { MockCounts } from './mock-pages.js';

/** What the parent says to the process of a mock server. */
export type ToMock =
  | { readonly kind: 'listen'; readonly options: MockServerOptions }
  | { readonly kind: 'stats' };

/** What it says back. */
export type FromMock =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly code: ErrorCode | null; readonly message: string }
  | { readonly kind: 'stats'; readonly counts: MockCounts | null; readonly cpu_us: number };
