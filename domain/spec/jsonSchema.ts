import { z } from 'zod';
import { pipelineSchema } from './pipeline';

/** The JSON Schema of the pipeline file, for editors; `conveyor.schema.json` is this, written down. */
export function pipelineJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(pipelineSchema, {
    target: 'draft-7',
    io: 'input',
    reused: 'ref',
  });
  return {
    $schema,
    title: 'Conveyor pipeline',
    description: 'What a release does and how it deploys. Written as YAML; checked by conveyor lint.',
    ...schema,
  };
}
