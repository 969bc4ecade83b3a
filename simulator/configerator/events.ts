import type { Override, StoredCommit } from '../../config/store/port';
import type { Answer } from '../../domain/config/held';
import type { Host } from '../../domain/config/overrides';

/** What happens to configuration, as the checkers see it. Numbers of hosts and cells are never given twice. */
export type ConfigEvent =
  | { readonly kind: 'committed'; readonly repository: string; readonly commit: StoredCommit }
  /** All overrides that a path has from now on. */
  | {
      readonly kind: 'exposed';
      readonly repository: string;
      readonly path: string;
      readonly overrides: readonly Override[];
    }
  | SeenEvent
  /** Nothing that the host had before says anything of it any more: it is new, or its task runs on another machine. */
  | { readonly kind: 'began'; readonly host: number; readonly cells: readonly number[] }
  | { readonly kind: 'left'; readonly host: number; readonly cells: readonly number[] }
  /** It is back, with what it had. */
  | { readonly kind: 'returned'; readonly host: number; readonly cells: readonly number[] }
  /** No fault, and nothing new to distribute, for so long that every host has everything. */
  | { readonly kind: 'settled' };

/** An application gets another answer. `fromCache`: from a disk that took nothing for a while. */
export interface SeenEvent {
  readonly kind: 'seen';
  readonly host: number;
  readonly cell: number;
  readonly as: Host;
  readonly repository: string;
  readonly answer: Answer;
  readonly fromCache: boolean;
}

/** What the kernel's heap holds of configuration. */
export type ConfigDue =
  | { readonly kind: 'config-observer'; readonly observer: number; readonly epoch: number; readonly upTo: number }
  | { readonly kind: 'config-connect' | 'config-deliver'; readonly host: number; readonly epoch: number }
  | { readonly kind: 'config-acknowledge'; readonly observer: number }
  | { readonly kind: 'config-fault-over'; readonly fault: string }
  | { readonly kind: 'config-settle' | 'config-step' }
  | { readonly kind: 'config-commit'; readonly repository: string; readonly change: number }
  | { readonly kind: 'config-tail'; readonly repository: string };
