"""A replacement for tf.contrib.image.rotate, which is gone since TensorFlow 2."""

from __future__ import annotations

from typing import Any


def rotate_images(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Rotate images counterclockwise about their centres, by angles in radians; what comes from outside is zero.

    Takes one image (height, width), (height, width, channels) or a batch (n, height, width, channels), and one angle
    or one for each image, as tf.contrib.image.rotate did.
    """
    import tensorflow as tf

    images = tf.convert_to_tensor(images)
    rank = images.shape.rank
    batch = images if rank == 4 else images[None] if rank == 3 else images[None, :, :, None]
    angles = tf.reshape(tf.cast(angles, tf.float32), [-1])
    height, width = tf.cast(tf.shape(batch)[1], tf.float32) - 1, tf.cast(tf.shape(batch)[2], tf.float32) - 1
    cos, sin = tf.cos(angles), tf.sin(angles)
    x = (width - (cos * width - sin * height)) / 2
    y = (height - (sin * width + cos * height)) / 2
    zero = tf.zeros_like(angles)
    made = tf.raw_ops.ImageProjectiveTransformV3(
        images=batch,
        transforms=tf.stack([cos, -sin, x, sin, cos, y, zero, zero], axis=1),
        output_shape=tf.shape(batch)[1:3],
        fill_value=0.0,
        interpolation=interpolation.upper(),
        fill_mode="CONSTANT",
    )
    return made if rank == 4 else made[0] if rank == 3 else made[0, :, :, 0]
