import type { Principal } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import type { Door, OperationName } from './operations';

/** Who asks, as the door knows them; null: nobody said who they are. */
export interface Who {
  readonly principal: Principal | null;
  readonly door: Door;
}

/** What is asked for, and all that a decision takes of it. */
export interface What {
  /** `''` where no pipeline is concerned. */
  readonly pipeline: string;
  /** Of the pipeline as it is; null where there is none. */
  readonly owners: readonly Principal[] | null;
  /** As it is, or would be. */
  readonly spec?: PipelineSpec;
  /** Of a pick: whom it names, and who asked for its release. */
  readonly pick?: {
    readonly principals: readonly Principal[];
    readonly askedBy: readonly Principal[];
    readonly approves: boolean;
    /** Places of the rules that a worker found to be met or not. */
    readonly places?: readonly string[];
  };
  /** Of a deploy: what it holds. */
  readonly holds?: Units;
  /** Of a proposal: the repository of configuration, whose `owners` these are then; null where it lists none. */
  readonly repository?: string;
  /** Of an emergency: whether it would not bake. */
  readonly skipBake?: boolean;
}

export interface Units {
  readonly pushType: string;
  readonly units: readonly string[];
  /** Any units of the push type: which ones is not yet known. */
  readonly any?: true;
}

export interface Request {
  readonly who: Who;
  readonly verb: OperationName;
  readonly what: What;
}
