import type { PipelineSpec } from './pipeline';
import type { Finding } from './problem';

/** Looks at a pipeline and says what is wrong or unwise about it. */
export type Rule = (spec: PipelineSpec) => Finding[];
