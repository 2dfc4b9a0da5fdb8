"""The commands of `flask people` that are longer."""
