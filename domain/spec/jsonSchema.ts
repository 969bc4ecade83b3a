import { z } from 'zod';
import { CHECK } from './expressible';
import { writtenCheck } from './health';
import { writtenPipeline } from './written';

/** The JSON Schema of the pipeline file, for editors; `conveyor.schema.json` is the saved copy. */
export function pipelineJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(writtenPipeline, {
    target: 'draft-7',
    io: 'input',
    reused: 'ref',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== writtenCheck) return;
      // A complete check, or a ready one.
      const { required = [] } = jsonSchema;
      delete jsonSchema.required;
      jsonSchema.anyOf = [{ required: ['uses'] }, { required }];
      jsonSchema.allOf = [...CHECK];
    },
  });
  return {
    $schema,
    title: 'Conveyor pipeline',
    description:
      'A pipeline: the actions of its releases and the phases of its deploys. Written as YAML; checked by conveyor lint.',
    ...schema,
  };
}
