import type { PipelineSpec } from './pipeline';
import type { Finding } from './problem';

/** Finds mistakes and unwise settings in a pipeline. */
export type Rule = (spec: PipelineSpec) => Finding[];
