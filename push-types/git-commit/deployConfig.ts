import { z } from 'zod';
import { GIT_COMMIT_LIMITS } from '../../sdk';

/** The `config` of a deploy action in a pipeline (docs/reference/git-commit.md). */

/** Where a value stands in a file. */
export type FieldPlace =
  | { readonly kustomize: string; readonly pin: 'tag' | 'digest' }
  | {
      readonly container: string;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
      readonly pin: 'tag' | 'digest';
    }
  | { readonly key: readonly (string | number)[] };

const word = z.string().min(1).max(GIT_COMMIT_LIMITS.name.max);
/** A part of unit names, paths and URLs. */
const slug = z
  .string()
  .max(GIT_COMMIT_LIMITS.name.max)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, 'expected small letters, digits and dashes');
const pin = z.enum(['tag', 'digest']).default('tag');

const keyPath = z
  .union([
    z
      .string()
      .min(1)
      .transform((text) => text.split('.')),
    z.array(z.union([z.string().min(1), z.number().int().nonnegative()])).min(1),
  ])
  .refine((path) => path.length <= GIT_COMMIT_LIMITS.keyPath.max, `more than ${GIT_COMMIT_LIMITS.keyPath.max} keys`)
  .refine((path) => path.every((key) => key !== ''), 'expected keys between dots, such as image.tag');

const fieldSchema = z.union(
  [
    z.strictObject({ kustomize: word, pin }),
    z.strictObject({ container: word, kind: word.optional(), name: word.optional(), pin }),
    z.strictObject({ helm: keyPath }).transform(({ helm }) => ({ key: helm })),
    z.strictObject({ key: keyPath }),
  ],
  'expected kustomize, container, helm or key, with their fields',
);

/** No `..`, no absolute path, and no name with a dot in front: `.github` and `.git` are programs of the forge. */
const FILE_PATH = /^(?![-/])(?:(?!\.)[\w{}][\w{}.@+ -]*\/)*(?!\.)[\w{}][\w{}.@+ -]*\.(ya?ml|json)$/;

export const deployConfigSchema = z.strictObject({
  /** Names the units, and their lock: deploys of one service take turns. */
  service: slug,
  /** A repository of the settings. */
  repository: slug,
  /** The file of each cluster; `{service}`, `{environment}` and `{cluster}` are replaced. */
  path: z
    .string()
    .max(GIT_COMMIT_LIMITS.path.max)
    .regex(
      FILE_PATH,
      'expected a path of a .yaml, .yml or .json file without .., and without names that begin with a dot',
    ),
  field: fieldSchema,
  /** The text in the field: `{version}` and `{digest}` are replaced. */
  value: z
    .string()
    .max(GIT_COMMIT_LIMITS.value.max)
    .regex(/\{(version|digest)\}/, 'expected {version} or {digest} in it')
    .optional(),
  /** Names of environments of the settings, or labels that select them. */
  environments: z.union([
    z.array(slug).min(1).max(GIT_COMMIT_LIMITS.environments.max),
    z.strictObject({ labels: z.record(z.string().min(1), z.string()) }),
  ]),
});

/** A config with its defaults. */
export type DeployConfig = z.output<typeof deployConfigSchema>;
export { slug as slugSchema };
