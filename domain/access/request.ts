import type { Principal } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import type { PathRule } from './paths';
import type { Door, OperationName } from './operations';

/** The requester, as the server or command line knows them; null if unknown. */
export interface AccessRequester {
  readonly principal: Principal | null;
  readonly door: Door;
}

/** The request, with the facts needed for a decision. */
export interface RequestFacts {
  /** `''` if no pipeline is concerned. */
  readonly pipeline: string;
  /** The owners of the present pipeline; null if there is none. */
  readonly owners: readonly Principal[] | null;
  /** The present or proposed spec. */
  readonly spec?: PipelineSpec;
  /** For a pick: the named people, and the requesters of its release. */
  readonly pick?: {
    readonly principals: readonly Principal[];
    readonly askedBy: readonly Principal[];
    readonly approves: boolean;
    /** Places of the rules that a worker has evaluated. */
    readonly places?: readonly string[];
  };
  /** For a deploy: the units that it holds. */
  readonly holds?: Units;
  /** For a proposal: the configuration repository; `owners` are then its owners, null if it lists none. */
  readonly repository?: string;
  /** For a proposal: the rules of the repository about paths. */
  readonly paths?: readonly PathRule[];
  /** For an emergency: whether it skips bakes. */
  readonly skipBake?: boolean;
}

export interface Units {
  readonly pushType: string;
  readonly units: readonly string[];
  /** Any units of the push type, while the exact ones are unknown. */
  readonly any?: true;
}

export interface Request {
  readonly who: AccessRequester;
  readonly verb: OperationName;
  readonly what: RequestFacts;
}
