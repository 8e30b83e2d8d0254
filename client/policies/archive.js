// Reads a zip archive of stored members, as gpu_envs/policies/checkpoint.py writes it: one member
// after the other, then the directory, and nothing else. Every byte is checked before any is used.

/** The bytes are not a policy file that can be read here; the message is one sentence. */
export class NotAPolicy extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "NotAPolicy";
  }
}

const MOST_BYTES = 2 ** 28; // of a file
const MOST_MEMBERS = 4096;
const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_SIZE = 30;
const CENTRAL_SIZE = 46;
const END_SIZE = 22;
const SKELETON = "checkpoint.json";
const NAME = /^(checkpoint\.json|\d{1,7}\.(npy|bin))$/;

/** Remainders of CRC-32, for each byte. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; ++bit) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/**
 * CRC-32 of bytes.
 * @param {Uint8Array} bytes
 */
export function crc32(bytes) {
  let rest = 0xffffffff;
  for (let k = 0; k < bytes.length; ++k) rest = REMAINDERS[(rest ^ bytes[k]) & 255] ^ (rest >>> 8);
  return ~rest >>> 0;
}

/**
 * Refuse a file that is damaged.
 * @param {string} cause
 * @returns {never}
 */
export function damaged(cause) {
  throw new NotAPolicy(`The file is damaged or cut short: ${cause}.`);
}

/**
 * The members of an archive by name, as views of its bytes.
 * @param {Uint8Array} bytes
 * @returns {Map<string, Uint8Array>}
 */
export function membersOf(bytes) {
  if (bytes.length === 0) throw new NotAPolicy("The file is empty.");
  if (bytes.length > MOST_BYTES)
    throw new NotAPolicy(`The file has more than ${MOST_BYTES / 2 ** 20} MB.`);
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b)
    throw new NotAPolicy("The file is not a policy of gpu_envs, or is damaged at its beginning.");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, directory } = endOf(view);
  /** @type {Map<string, Uint8Array>} */
  const members = new Map();
  let at = directory;
  let next = 0; // where the next member begins
  for (let k = 0; k < count; ++k) {
    const entry = entryAt(view, at, next, directory);
    if (members.has(entry.name)) damaged(`it has ${entry.name} twice`);
    const begin = bytes.byteOffset + entry.begin; // a Buffer of node is made plain
    members.set(entry.name, new Uint8Array(bytes.buffer, begin, entry.end - entry.begin));
    at += CENTRAL_SIZE + entry.name.length;
    next = entry.end;
  }
  if (next !== directory || at !== bytes.length - END_SIZE) damaged("parts of it do not meet");
  return members;
}

/**
 * The number of members, and where the directory begins.
 * @param {DataView} view
 */
function endOf(view) {
  const at = view.byteLength - END_SIZE;
  if (at < 0 || view.getUint32(at, true) !== END) damaged("it does not end as it should");
  const count = view.getUint16(at + 10, true);
  const size = view.getUint32(at + 12, true);
  const directory = view.getUint32(at + 16, true);
  const isWhole =
    view.getUint32(at + 4, true) === 0 &&
    view.getUint16(at + 8, true) === count &&
    view.getUint16(at + 20, true) === 0;
  if (!isWhole || directory + size !== at) damaged("its directory is not where it should be");
  if (count > MOST_MEMBERS) throw new NotAPolicy(`The file has more than ${MOST_MEMBERS} members.`);
  return { count, directory };
}

/**
 * A member, once its two headers agree and its checksum is right.
 * @param {DataView} view
 * @param {number} at Where its entry in the directory begins.
 * @param {number} local Where its own header must begin.
 * @param {number} directory Where the directory begins.
 */
function entryAt(view, at, local, directory) {
  const last = view.byteLength - END_SIZE;
  if (at + CENTRAL_SIZE > last || view.getUint32(at, true) !== CENTRAL)
    damaged("its directory is too short");
  const length = view.getUint16(at + 28, true);
  const others = view.getUint32(at + 30, true); // of extra fields and comments: none
  if (others !== 0 || at + CENTRAL_SIZE + length > last) damaged("its directory has other fields");
  const name = nameAt(view, at + CENTRAL_SIZE, length);
  if (view.getUint16(at + 8, true) !== 0 || view.getUint16(at + 10, true) !== 0)
    throw new NotAPolicy(`The file's member ${name} is compressed or encrypted.`);
  const size = view.getUint32(at + 24, true);
  const begin = local + LOCAL_SIZE + length;
  if (view.getUint32(at + 42, true) !== local || begin + size > directory)
    damaged(`${name} is not where it should be`);
  if (view.getUint32(local, true) !== LOCAL || view.getUint32(local + 26, true) !== length)
    damaged(`${name} has no header`);
  // From the version that is needed to the size: the same in both headers, time and date included.
  for (let k = 0; k < 22; ++k)
    if (view.getUint8(at + 6 + k) !== view.getUint8(local + 4 + k))
      damaged(`${name} has two headers that differ`);
  if (view.getUint32(at + 20, true) !== size || nameAt(view, local + LOCAL_SIZE, length) !== name)
    damaged(`${name} has two headers that differ`);
  const content = new Uint8Array(view.buffer, view.byteOffset + begin, size);
  if (crc32(content) !== view.getUint32(at + 16, true)) damaged(`${name} has another checksum`);
  return { name, begin, end: begin + size };
}

/**
 * The name of a member; only those that the package writes are known.
 * @param {DataView} view
 * @param {number} at
 * @param {number} length
 */
function nameAt(view, at, length) {
  let name = "";
  for (let k = 0; k < Math.min(length, 64); ++k) name += String.fromCharCode(view.getUint8(at + k));
  if (length > 64 || !NAME.test(name))
    throw new NotAPolicy("The file is an archive of another kind, not a policy of gpu_envs.");
  return name;
}

/**
 * The text that describes what is in the members.
 * @param {Map<string, Uint8Array>} members
 */
export function skeletonOf(members) {
  const found = members.get(SKELETON);
  if (found === undefined)
    throw new NotAPolicy("The file is an archive of another kind, not a policy of gpu_envs.");
  return found;
}
