import { createHash } from 'node:crypto';

/** The image of a version. Pure. */

/** An artifact of a deploy, as far as images are concerned. */
interface ImageArtifact {
  readonly version: string;
  readonly digest?: string | undefined;
  readonly uri?: string | undefined;
}

export interface ImageRequest {
  readonly version: string;
  readonly artifacts: readonly ImageArtifact[];
  /** The repository of the config; otherwise that of the artifact or of the running image counts. */
  readonly repository: string | undefined;
  /** The image that runs now. */
  readonly running: string;
  readonly allowTags: boolean;
}

/** `ghcr.io/acme/web:1.4@sha256:…` in parts; the port of a registry is no tag. */
export function splitImage(image: string): {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
} {
  const [named = '', digest] = image.split('@');
  const colon = named.lastIndexOf(':');
  const hasTag = colon > named.lastIndexOf('/');
  return {
    repository: hasTag ? named.slice(0, colon) : named,
    ...(hasTag && { tag: named.slice(colon + 1) }),
    ...(digest !== undefined && { digest }),
  };
}

/** The image of a version with its digest, or why there is none. */
export function resolveImage(request: ImageRequest): { readonly image: string } | { readonly problem: string } {
  const { version, artifacts, running, allowTags } = request;
  const artifact =
    artifacts.find((one) => one.version === version) ?? (artifacts.length === 1 ? artifacts[0] : undefined);
  const place = artifact?.uri?.replace(/^[a-z]+:\/\//, '');
  const written = isImage(version) ? version : undefined;
  const digest = artifact?.digest ?? (place && splitImage(place).digest) ?? (written && splitImage(written).digest);
  const repository = request.repository ?? splitImage(place || written || running).repository;
  if (digest !== undefined) {
    if (!IMAGE_DIGEST.test(digest))
      return { problem: `${version} has the digest ${digest}, expected sha256: and 64 digits` };
    return { image: `${repository}@${digest}` };
  }
  if (!allowTags)
    return {
      problem: `${version} has no digest, and a tag can move: release an artifact with a digest, or set allowTags in the file of the clusters`,
    };
  const image = written ?? `${repository}:${version}`;
  return IMAGE.test(image) ? { image } : { problem: `${image} is no image reference` };
}

const IMAGE_DIGEST = /^sha256:[0-9a-f]{64}$/;
const IMAGE = /^[a-z0-9][A-Za-z0-9._/:-]*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const isImage = (version: string): boolean =>
  /^[a-z0-9][A-Za-z0-9._/:-]*(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(version);

/** A text as the value of a label, which Kubernetes limits to 63 letters, digits, dots, dashes and underscores. */
export function writeLabelValue(text: string): string {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const readable = text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return readable === '' ? hash : `${readable.slice(-48).replace(/^[^A-Za-z0-9]+/, '')}-${hash}`;
}
