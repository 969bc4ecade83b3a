import type { Override, StoredCommit } from '../../configerator/store/port';
import type { Answer } from '../../configerator/domain/heldValue';
import type { Host } from '../../configerator/domain/overrides';

/** The events of configuration, as the checkers see them. Numbers of hosts and cells are never reused. */
export type ConfigEvent =
  | { readonly kind: 'committed'; readonly repository: string; readonly commit: StoredCommit }
  /** All overrides of a path from now on. */
  | {
      readonly kind: 'exposed';
      readonly repository: string;
      readonly path: string;
      readonly overrides: readonly Override[];
    }
  | SeenEvent
  /** The host starts empty: it is new, or its task runs on another machine. */
  | { readonly kind: 'began'; readonly host: number; readonly cells: readonly number[] }
  | { readonly kind: 'left'; readonly host: number; readonly cells: readonly number[] }
  /** The host is back, with the values that it had. */
  | { readonly kind: 'returned'; readonly host: number; readonly cells: readonly number[] }
  /** No fault, and nothing new to distribute, for so long that every host has everything. */
  | { readonly kind: 'settled' };

/** An application gets another answer. `fromCache`: from a cache whose disk accepted no writes for a while. */
export interface SeenEvent {
  readonly kind: 'seen';
  readonly host: number;
  readonly cell: number;
  readonly as: Host;
  readonly repository: string;
  readonly answer: Answer;
  readonly fromCache: boolean;
}

/** The events of configuration in the kernel's heap. */
export type ConfigDue =
  | { readonly kind: 'config-observer'; readonly observer: number; readonly epoch: number; readonly upTo: number }
  | { readonly kind: 'config-connect' | 'config-deliver'; readonly host: number; readonly epoch: number }
  | { readonly kind: 'config-acknowledge'; readonly observer: number }
  | { readonly kind: 'config-fault-over'; readonly fault: string }
  | { readonly kind: 'config-settle' | 'config-step' }
  | { readonly kind: 'config-commit'; readonly repository: string; readonly change: number }
  | { readonly kind: 'config-tail'; readonly repository: string };
