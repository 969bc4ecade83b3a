import type { PathRights } from '../../../domain/access/paths';
import type { OwnedPaths } from '../../domain/ownership';
import type { Dependencies } from '../dependencies';
import type { Difference } from '../difference';
import type { RepositoryRef } from '../repository';
import type { ChangeRequest, WantedFiles, RequestResult } from '../requests';

/** Long computations, run in a separate process so that a server can answer other requests meanwhile. */
export type ProposalJob = { readonly ref: RepositoryRef; readonly copies: string; readonly gitTimeoutMs: number } & (
  | {
      readonly kind: 'propose';
      readonly request: ChangeRequest;
      readonly author: string;
      readonly key: string | null;
      readonly nowMs: number;
      /** Which paths pipelines release. */
      readonly pipelines: readonly OwnedPaths[];
      /** Which paths the author may change; null: any. */
      readonly rights: PathRights | null;
      readonly groups: readonly string[];
    }
  | { readonly kind: 'diff'; readonly wanted: WantedFiles }
  | { readonly kind: 'why'; readonly path: string }
);

/** The results, by kind of job. */
export interface Results {
  readonly propose: RequestResult;
  readonly diff: Difference;
  readonly why: Dependencies;
}

/** A ConveyorError in the form in which it passes between processes. */
export interface Thrown {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
  readonly exit: number;
}

export type ProposalOutcome = { readonly result: unknown } | { readonly thrown: Thrown };
