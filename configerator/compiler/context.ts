import type { ConveyorError } from '../../domain/errors';
import type { ImportGraph } from './graph';
import type { Run } from './run';
import type { SourceTree } from './tree';

/** The context of one compilation. */
export interface Context {
  readonly graph: ImportGraph;
  readonly tree: SourceTree;
  readonly run: Run;
  readonly say: (problem: ConveyorError) => void;
}

/** The source of values: a program or a raw file. */
export interface ValueSource {
  readonly file: string;
  /** Every file that a change of its values could come from: itself, what it imports, schemas and validators. */
  readonly sources: readonly string[];
}

/** A value before the check against its schema. */
export interface UncheckedValue extends ValueSource {
  readonly path: string;
  /** JSON, or the unchanged text of a raw file. */
  readonly text: string;
  readonly schema: { readonly file: string; readonly name: string } | null;
  readonly isRaw: boolean;
}

/** A value as it is distributed. */
export interface CompiledValue extends ValueSource {
  readonly path: string;
  readonly text: string;
}
