import fc from 'fast-check';
import { parse } from 'yaml';
import { deployConfigSchema, type FieldPlace } from '../../push-types/git-commit/deployConfig';
import { readFileField, writeField } from '../../push-types/git-commit/fileField';

const place = (field: object): FieldPlace =>
  deployConfigSchema.parse({ service: 'web', repository: 'r', path: 'a.yaml', environments: ['eu'], field }).field;

const KUSTOMIZATION = `# the shop
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:   # not sorted on purpose
  - ../../base
images:
  - name: registry.example.com/api
    newTag: "7"
  - name:  registry.example.com/web   # ours
    newTag: 1.10     # set by Conveyor
`;

const MANIFESTS = `kind: Service
metadata: { name: web }
---
# first
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      initContainers:
        - { name: app, image: 'registry.example.com:5000/setup:3' }
      containers:
        - name: app
          image: registry.example.com:5000/web:1.3 # the application
        - name: log
          image: 'registry.example.com/log@sha256:${'a'.repeat(64)}'
`;

describe('a field of a file', () => {
  test.each([
    [
      'the tag of an image of kustomize',
      KUSTOMIZATION,
      { kustomize: 'registry.example.com/web' },
      '1.10',
      '1.10     # set',
      '1.20.0     # set',
      '1.20.0',
    ],
    [
      'the tag of a container, not of an init container of its name',
      MANIFESTS,
      { container: 'app' },
      '1.3',
      ':1.3 #',
      ':1.4 #',
      '1.4',
    ],
    [
      'the digest of a container',
      MANIFESTS,
      { container: 'log', pin: 'digest' },
      `sha256:${'a'.repeat(64)}`,
      'a'.repeat(64),
      'b'.repeat(64),
      `sha256:${'b'.repeat(64)}`,
    ],
    [
      'a value of Helm by its keys',
      'image:\n  repository: web # ours\n  tag: v1 # x\nport: 80\n',
      { helm: 'image.tag' },
      'v1',
      'tag: v1 #',
      'tag: v2 #',
      'v2',
    ],
    [
      'a value of JSON',
      '{\n  "a": [ {"version":"1"}, {"version": "2"} ]\n}\n',
      { key: 'a.1.version' },
      '2',
      '"2"',
      '"3"',
      '3',
    ],
    ['a value in single quotes', "tag: 'it''s'\n", { key: 'tag' }, "it's", "'it''s'", "'1'", '1'],
    [
      'a value in a flow map',
      '{ image: { tag: v1, repository: web } }\n',
      { key: 'image.tag' },
      'v1',
      'tag: v1',
      'tag: "v2"',
      'v2',
    ],
    [
      'a file with Windows line ends',
      'a: 1 # one\r\ntag: v1\r\nb: 2\r\n',
      { key: 'tag' },
      'v1',
      'tag: v1',
      'tag: v2',
      'v2',
    ],
    ['a key that has a dot', 'example.com/tag: v1\n', { key: ['example.com/tag'] }, 'v1', 'v1', 'v2', 'v2'],
  ])('is changed alone: %s', (_, text, field, old, before, after, value) => {
    expect(readFileField(text, place(field))).toBe(old);
    expect(writeField(text, place(field), value)).toBe(text.replace(before, after));
    expect(writeField(text, place(field), old)).toBe(text);
  });

  test.each([
    ['that is missing', 'a: 1\n', { key: 'tag' }, 'the key tag is not there: add it once by hand'],
    ['that is there twice', 'tag: 1\n---\ntag: 2\n', { key: 'tag' }, 'the key tag is there 2 times: leave one of them'],
    [
      'whose key is there twice in a map',
      'tag: 1\ntag: 2\n',
      { key: 'tag' },
      'the file is not YAML or JSON: Map keys must be unique',
    ],
    [
      'of a container in two objects',
      `${MANIFESTS}---\n${MANIFESTS}`,
      { container: 'app' },
      'name its kind and name in the field',
    ],
    ['that is an alias', 'x: &v "1"\ntag: *v\n', { key: 'tag' }, 'shared by an anchor'],
    ['that has an anchor', 'tag: &v "1"\nx: *v\n', { key: 'tag' }, 'shared by an anchor'],
    ['in a map that has an anchor', 'image: &i\n  tag: "1"\nx: *i\n', { key: 'image.tag' }, 'shared by an anchor'],
    ['that only a merge key brings', 'b: &b\n  tag: "1"\nc:\n  <<: *b\n', { key: 'c.tag' }, 'merge keys (<<)'],
    ['in a template', 'tag: {{ .Values.tag }}\n', { key: 'tag' }, 'is a template: deploy the file of its values'],
    [
      'that is a template in quotes',
      'tag: "{{ .Values.tag }}"\n',
      { key: 'tag' },
      'is a template: deploy the file of its values',
    ],
    ['that a tool substitutes', 'tag: ${TAG}\n', { key: 'tag' }, 'is a template: deploy the file of its values'],
    ['in a file that is no YAML', 'a: [\n', { key: 'a' }, 'the file is not YAML or JSON'],
    ['that is a map', 'tag: { a: 1 }\n', { key: 'tag' }, 'has no text as its value'],
    ['that is empty', 'tag:\n', { key: 'tag' }, 'has no text as its value'],
    ['of several lines', 'tag: |\n  1\n', { key: 'tag' }, 'write it on one line'],
    ['that has a tag of YAML', 'tag: !secret x\n', { key: 'tag' }, 'has the tag !secret'],
    [
      'of an image whose digest wins',
      `images: [{ name: web, newTag: '1', digest: 'sha256:${'a'.repeat(64)}' }]\n`,
      { kustomize: 'web' },
      'has a digest, which wins over newTag',
    ],
    [
      'of an image that has no tag',
      'images: [{ name: web, newName: x }]\n',
      { kustomize: 'web' },
      'add an entry with name and newTag',
    ],
    [
      'of a container without a tag',
      MANIFESTS.replace('web:1.3', 'web'),
      { container: 'app' },
      'has no tag: write name:tag',
    ],
    ['of a container whose digest wins', MANIFESTS, { container: 'log' }, 'has a digest, which wins over its tag'],
    ['in a list of lists without end', '- '.repeat(100_000), { key: 'a' }, 'nests too deep'],
    ['in a file that nests too deep', `a: ${'['.repeat(100_000)}`, { key: 'a' }, 'nests too deep'],
    ['in a file that is too large', `tag: "1"\n#${'x'.repeat(600_000)}`, { key: 'tag' }, 'is larger than 524288 bytes'],
  ])('is refused, with what to do: one %s', (_, text, field, why) => {
    expect(() => writeField(text, place(field), 'v2')).toThrow(why);
  });

  test('no value is taken for a number, a date or a truth value by the reader of the file', () => {
    const values = [
      '1.10',
      '1234567',
      '12e4567',
      '0x1F',
      '017',
      'on',
      'no',
      'null',
      '~',
      '2026-11-30',
      '1_000',
      '1:20',
      '.5',
      'v1',
      '1.2.3',
      'a: b',
      'a #b',
      '- x',
      '',
    ];
    for (const value of values)
      for (const old of ['tag: v0\n', 'tag: "v0"\n', "tag: 'v0'\n"]) {
        const text = writeField(old, place({ key: 'tag' }), value);
        expect(parse(text, { version: '1.1' })).toEqual({ tag: value });
        expect(parse(text, { version: '1.2' })).toEqual({ tag: value });
      }
  });

  test('any text survives being written, and the lines around it stay as they were', () => {
    const text = '# top\nfirst: 1 # a\nimage: { tag: v0 } # b\nlast: [1, 2]\n';
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }).filter((one) => !/\{\{|\$\{|<%/.test(one)),
        (value) => {
          const changed = writeField(text, place({ key: 'image.tag' }), value);
          expect(readFileField(changed, place({ key: 'image.tag' }))).toBe(value);
          expect(changed.startsWith('# top\nfirst: 1 # a\nimage: { tag: ')).toBe(true);
          expect(changed.endsWith(' } # b\nlast: [1, 2]\n')).toBe(true);
        },
      ),
    );
  });
});
